// SPDX-License-Identifier: Apache-2.0
#include "host/recurring_figures.h"

#include <algorithm>
#include <utility>

#include "host/interruption_cost.h"
#include "host/memory_threshold.h"
#include "host/persist_cost.h"
#include "host/short_chase.h"
#include "host/statistics.h"

namespace nvmemu {
namespace {

constexpr std::size_t kMostCachedBytes = std::size_t{4} << 20;
// At a time, of what takes a millisecond, and some.
constexpr int kCachePasses = 10, kThresholds = 2;

// What the last-level cache holds even when others share it, and the next inner level does not.
std::size_t cached_bytes(const Cpu& cpu) {
  const std::size_t bytes = std::min<std::size_t>(
      {cpu.last_level_cache_bytes() / 4, 2 * cpu.inner_cache_bytes(), kMostCachedBytes});
  constexpr std::size_t kPage = ChaseBuffer::kHugePageBytes;
  return std::max(bytes / kPage, std::size_t{1}) * kPage;
}

// Of what neighbours can only make slower.
Figure lowest(const std::vector<double>& values) {
  return {values.empty() ? 0 : *std::min_element(values.begin(), values.end()), summarize(values).spread};
}

}  // namespace

Result<RecurringFigures> RecurringFigures::create(const Cpu& cpu, const Clock& clock) {
  auto cached = ChaseBuffer::of_all_lines(cached_bytes(cpu), Pages::kHuge);
  if (!cached) return tl::unexpected<Error>(cached.error());
  return RecurringFigures(clock, *std::move(cached));
}

Result<void> RecurringFigures::measure(Calibration& to, const Measured& measured) {
  add_cache_latencies();
  if (const auto done = add_memory(); !done) return done;
  timers_.push_back(measure_timer_cost(clock_).value);
  persists_.push_back(measure_persist_cost(clock_).value);
  const auto keep = [&](std::string_view key, const Figure& figure, double& member) {
    member = figure.value;
    if (measured) measured(key, figure.spread);
  };
  keep("cache_latency_ns", lowest(cache_latencies_), to.cache_latency_ns);
  keep("timing_overhead_ns", lowest(overheads_), to.timing_overhead_ns);
  keep("memory_threshold_ns", lowest(thresholds_), to.memory_threshold_ns);
  keep("short_chase_ns", summarize(short_chases_), to.short_chase_ns);
  keep("timer_cost_ns", summarize(timers_), to.timer_cost_ns);
  keep("persist_latency_ns", summarize(persists_), to.persist_latency_ns);
  return {};
}

void RecurringFigures::add_cache_latencies() {
  const void* line = chase(cached_.start(), 2 * cached_.loads());
  for (int i = 0; i < kCachePasses; ++i)
    cache_latencies_.push_back(timed_chase_ns(clock_, line, cached_.loads()));
}

// In memory of its own each time. Single loads are timed with the TSC; where that is not the clock, its ticks
// mean nothing.
Result<void> RecurringFigures::add_memory() {
  const auto short_chase = ShortChase::create();
  if (!short_chase) return tl::unexpected<Error>(short_chase.error());
  short_chases_.push_back(short_chase->measure(clock_).value);
  for (int i = 0; clock_.uses_tsc() && i < kThresholds; ++i) {
    const auto threshold = measure_memory_threshold(clock_, cached_, short_chase->buffer());
    overheads_.push_back(threshold.overhead_ns);
    thresholds_.push_back(threshold.threshold_ns);
  }
  return {};
}

}  // namespace nvmemu
