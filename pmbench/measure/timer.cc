// SPDX-License-Identifier: Apache-2.0
#include "measure/timer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "base/clock.h"
#include "base/quote.h"

namespace nvmemu::pmbench {
namespace {

struct FenceName {
  const char* name;
  Fence fence;
};
constexpr FenceName kFences[] = {{"lfence", Fence::kLoad}, {"mfence", Fence::kFull}, {"none", Fence::kNone}};

constexpr std::size_t kPairs = 4001;

std::uint64_t median(std::array<std::uint64_t, kPairs>& values) {
  std::nth_element(values.begin(), values.begin() + kPairs / 2, values.end());
  return values[kPairs / 2];
}

template <typename Timer>
TimerCost measure_cost() {
  std::array<std::uint64_t, kPairs> reads;
  std::array<std::uint64_t, kPairs> writes;
  const std::uint64_t start_ns = monotonic_raw_ns();
  for (std::uint64_t& ticks : reads) {
    const std::uint64_t begin = Timer::begin().ticks;
    ticks = Timer::end().ticks - begin;
  }
  const std::uint64_t end_ns = monotonic_raw_ns();
  for (std::uint64_t& ticks : writes) {
    const std::uint64_t begin = Timer::begin().ticks;
    Timer::drain();
    ticks = Timer::end().ticks - begin;
  }
  return {median(reads), median(writes), static_cast<double>(end_ns - start_ns) / kPairs};
}

}  // namespace

Result<Fence> parse_fence(std::string_view name) {
  for (const FenceName& known : kFences) {
    if (name == known.name) return known.fence;
  }
  return failure(fmt::format("{} is not one of lfence, mfence, none", quote(name)));
}

std::vector<std::string> fence_names() {
  std::vector<std::string> names;
  for (const FenceName& known : kFences) names.emplace_back(known.name);
  return names;
}

TimestampKind default_timestamp() noexcept {
#if defined(__x86_64__)
  return TimestampKind::kRdtscp;
#elif defined(__aarch64__)
  return TimestampKind::kArmCounter;
#else
  return TimestampKind::kPerfCounter;
#endif
}

Result<double> timer_hz(TimestampKind kind) {
  switch (kind) {
    case TimestampKind::kPerfCounter:
      return 1e9;
    case TimestampKind::kArmCounter: {
#if defined(__aarch64__)
      std::uint64_t hz;
      asm volatile("mrs %0, cntfrq_el0" : "=r"(hz));
      if (hz > 0) return static_cast<double>(hz);
#endif
      return failure("-t cntvct: this processor has no such counter", "-t perfc works everywhere");
    }
    case TimestampKind::kRdtscp:
    case TimestampKind::kRdtsc:
      break;
  }
  const Clock clock = Clock::calibrate();
  if (!clock.uses_tsc()) {
    return failure("-t: this machine has no time-stamp counter of a constant rate that its kernel trusts",
                   "-t perfc works everywhere");
  }
  return clock.hz();
}

// The first round finds the code out of the caches, and the processor perhaps asleep.
TimerCost measure_timer_cost(TimestampKind kind, Fence fence) {
  const auto measure = []<typename Timer>() { return measure_cost<Timer>(); };
  with_timer(kind, fence, measure);
  return with_timer(kind, fence, measure);
}

ChosenTimer choose_timer() {
  ChosenTimer timer;
  if (const Result<double> hz = timer_hz(default_timestamp()); hz) {
    timer.kind = default_timestamp();
    timer.hz = *hz;
  }
  timer.cost = measure_timer_cost(timer.kind, Fence::kLoad);
  return timer;
}

}  // namespace nvmemu::pmbench
