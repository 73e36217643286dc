// SPDX-License-Identifier: Apache-2.0
// Which timers there are, how fast they tick, and what they cost.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "measure/timestamp.h"
#include "run/options.h"

namespace nvmemu::pmbench {

enum class Fence : std::uint8_t { kLoad, kFull, kNone };

// By the names that --fence takes: lfence, mfence, none.
Result<Fence> parse_fence(std::string_view name);
std::vector<std::string> fence_names();

// The timer that is used where none is asked for.
TimestampKind default_timestamp() noexcept;

// Ticks a second; an error where this machine has no such timer, or one that cannot be trusted.
Result<double> timer_hz(TimestampKind kind);

// What two stamps read with nothing between them, in ticks: the median of some thousands.
struct TimerCost {
  std::uint64_t read_ticks = 0;
  std::uint64_t write_ticks = 0;  // with the wait for a store, and none to wait for
  double pair_ns = 0;             // that a pair of stamps takes of the loop's time, by the wall clock
};

// Calls `function.template operator()<Timer>()` with the timer of that kind and those fences; a kind that
// this processor has not is the kernel's clock (timer_hz() has refused it before).
template <typename Function>
auto with_timer(TimestampKind kind, Fence fence, Function&& function) {
  const auto with_fence = [&]<template <typename> typename Timer>() {
    switch (fence) {
      case Fence::kFull:
        return function.template operator()<Timer<FullFence>>();
      case Fence::kNone:
        return function.template operator()<Timer<NoFence>>();
      case Fence::kLoad:
        break;
    }
    return function.template operator()<Timer<LoadFence>>();
  };
#if defined(__x86_64__)
  if (kind == TimestampKind::kRdtscp) return with_fence.template operator()<Rdtscp>();
  if (kind == TimestampKind::kRdtsc) return with_fence.template operator()<Rdtsc>();
#elif defined(__aarch64__)
  if (kind == TimestampKind::kArmCounter) return with_fence.template operator()<VirtualCounter>();
#endif
  return with_fence.template operator()<KernelClock>();
}

// Of the timer of that kind and those fences.
TimerCost measure_timer_cost(TimestampKind kind, Fence fence);

// The default timer, or, where the machine's kernel does not trust it, the kernel's clock, which works
// everywhere; with lfence.
struct ChosenTimer {
  TimestampKind kind = TimestampKind::kPerfCounter;
  double hz = 1e9;
  TimerCost cost{};
};
ChosenTimer choose_timer();

}  // namespace nvmemu::pmbench
