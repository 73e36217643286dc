// SPDX-License-Identifier: Apache-2.0
#include "host/trap_cost.h"

#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <vector>

#include "host/perf_event.h"

namespace nvmemu {
namespace {

constexpr int kTraps = 500;
volatile sig_atomic_t traps_taken = 0;

void count_trap(int) { traps_taken = traps_taken + 1; }

// Called through a volatile pointer, so that its first instruction is at the address that the breakpoint
// watches.
[[gnu::noinline]] void trapped_function() { asm volatile("" ::: "memory"); }
void (*volatile trapped_pointer)() = trapped_function;

std::vector<double> call_times(const Clock& clock) {
  std::vector<double> times;
  for (int i = 0; i < kTraps; ++i) {
    const std::uint64_t start = clock.now_ticks();
    trapped_pointer();
    times.push_back(clock.ns_since(start));
  }
  return times;
}

}  // namespace

Figure measure_trap_cost(const Clock& clock) {
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = count_trap;
  sigemptyset(&action.sa_mask);
  if (sigaction(SIGTRAP, &action, &before) != 0) return {};

  const double plain = median(call_times(clock));
  perf_event_attr event = execution_breakpoint(reinterpret_cast<std::uintptr_t>(trapped_pointer));
  make_trapping(event);
  Figure cost;
  if (const int file = open_perf_event(event); file >= 0) {
    traps_taken = 0;
    std::vector<double> groups;
    for (int group = 0; group < 3; ++group) groups.push_back(median(call_times(clock)) - plain);
    if (traps_taken >= kTraps) cost = summarize(groups);
    close(file);
  }
  sigaction(SIGTRAP, &before, nullptr);
  return cost;
}

}  // namespace nvmemu
