// SPDX-License-Identifier: Apache-2.0
// guest SCENARIO: runs it, and says "ok" on stdout where all was as it should be.
#include "guest.h"

#include <signal.h>
#include <sys/syscall.h>

#include <cstring>

#include "base/clock.h"
#include "base/raw_syscall.h"
#include "nvmemu/nvmemu.h"

namespace nvmemu::guest {

const char* own_path;

bool is_emulated() { return nvmemu_active != nullptr && nvmemu_active() == 1; }

void burn(double ms) {
  const std::uint64_t end = thread_cpu_ns() + static_cast<std::uint64_t>(ms * 1e6);
  while (thread_cpu_ns() < end) {
    for (int i = 0; i < 20000; ++i) asm volatile("");
  }
}

void mask_ticks(int how) {
  const unsigned long ticks = 1UL << (SIGWINCH - 1);
  CHECK(raw_syscall(SYS_rt_sigprocmask, how, &ticks, nullptr, sizeof ticks) == 0);
}

}  // namespace nvmemu::guest

int main(int count, char** arguments) {
  using namespace nvmemu::guest;
  own_path = arguments[0];
  for (const auto scenarios : {thread_scenarios(),        process_scenarios(),      traced_scenarios(),
                               signal_scenarios(),        end_scenarios(),          openmp_scenarios(),
                               stack_scenarios(),         handler_scenarios(),      left_handler_scenarios(),
                               tick_scenarios(),          own_fault_scenarios(),    sandbox_scenarios(),
                               computing_scenarios(),     served_page_scenarios(),  tier_scenarios(),
                               node_scenarios(),          moved_page_scenarios(),   node_count_scenarios(),
                               paging_scenarios(),        paged_call_scenarios(),   paged_fault_scenarios(),
                               paged_handler_scenarios(), paged_buffer_scenarios(), paged_advice_scenarios(),
                               dram_cache_scenarios()}) {
    for (const Scenario& scenario : scenarios) {
      if (count < 2 || std::strcmp(arguments[1], scenario.name) != 0) continue;
      const int status = scenario.run();
      if (status == 0) std::puts("ok");
      return status;
    }
  }
  std::fputs("guest: unknown scenario\n", stderr);
  return 94;
}
