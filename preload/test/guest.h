// SPDX-License-Identifier: Apache-2.0
// The program that is emulated in tests: each scenario does what programs do to an emulator, checks that it
// looks as it would without one, and returns 0, or the exit status that the test expects.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <span>

namespace nvmemu::guest {

struct Scenario {
  const char* name;
  int (*run)();
};

std::span<const Scenario> thread_scenarios();
std::span<const Scenario> process_scenarios();
std::span<const Scenario> traced_scenarios();
std::span<const Scenario> signal_scenarios();
std::span<const Scenario> end_scenarios();
std::span<const Scenario> openmp_scenarios();
std::span<const Scenario> stack_scenarios();
std::span<const Scenario> handler_scenarios();
std::span<const Scenario> left_handler_scenarios();
std::span<const Scenario> tick_scenarios();
std::span<const Scenario> own_fault_scenarios();
std::span<const Scenario> sandbox_scenarios();
std::span<const Scenario> computing_scenarios();
std::span<const Scenario> served_page_scenarios();
std::span<const Scenario> tier_scenarios();
std::span<const Scenario> node_scenarios();
std::span<const Scenario> moved_page_scenarios();
std::span<const Scenario> node_count_scenarios();
std::span<const Scenario> paging_scenarios();
std::span<const Scenario> paged_call_scenarios();
std::span<const Scenario> paged_fault_scenarios();
std::span<const Scenario> paged_handler_scenarios();
std::span<const Scenario> paged_buffer_scenarios();
std::span<const Scenario> paged_advice_scenarios();
std::span<const Scenario> dram_cache_scenarios();

// The program's own path.
extern const char* own_path;

bool is_emulated();

// CPU time of the calling thread: by default some ten epochs of 10 ms.
void burn(double ms = 120);

// Likewise, along a list through 64 MiB in no order: what is sampled, decoded and walked most.
void walk_list(double ms);

// What may keep delays away ends with a walk of so long: they come once it is done with.
inline constexpr double kDelayedMs = 500;

// The calling thread's ticks, by SIG_BLOCK or SIG_UNBLOCK: behind the C library's back, as a runtime may that
// calls the kernel itself.
void mask_ticks(int how);

[[noreturn]] inline void fail(const char* file, int line, const char* what) {
  std::fprintf(stderr, "%s:%d: %s\n", file, line, what);
  std::_Exit(90);
}

}  // namespace nvmemu::guest

#define CHECK(condition) \
  if (!(condition)) nvmemu::guest::fail(__FILE__, __LINE__, #condition)
