// SPDX-License-Identifier: Apache-2.0
#include "host/calibrate.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/units.h"
#include "host/bandwidth.h"
#include "host/chase_buffer.h"
#include "host/core_window.h"
#include "host/interruption_cost.h"
#include "host/memory_threshold.h"
#include "host/persist_cost.h"
#include "host/short_chase.h"
#include "host/statistics.h"

namespace nvmemu {
namespace {

constexpr std::size_t kMebibyte = std::size_t{1} << 20;
constexpr std::size_t kChaseBytes = 512 * kMebibyte;
constexpr std::size_t kLeastChaseBytes = 64 * kMebibyte;
constexpr std::size_t kMostCachedBytes = 4 * kMebibyte;
constexpr std::size_t kTimedLoads = 300'000;
constexpr std::size_t kWarmingLoads = 250'000;
constexpr double kUnstableSpread = 0.10;

std::size_t in_huge_pages(std::size_t bytes) {
  return std::max(bytes / ChaseBuffer::kHugePageBytes, std::size_t{1}) * ChaseBuffer::kHugePageBytes;
}

// A quarter of what is available, so that nothing else is pushed out though two such chases are held at a
// time.
Result<std::size_t> chase_bytes(const Cpu& cpu) {
  const std::size_t bytes = std::min<std::size_t>(kChaseBytes, cpu.memory_bytes / 4);
  if (bytes >= kLeastChaseBytes) return in_huge_pages(bytes);
  return failure("too little memory to measure its latency: " + format_size(cpu.memory_bytes) + " available",
                 "free " + format_size(4 * kLeastChaseBytes));
}

// What the last-level cache holds even when others share it, and the next inner level does not.
std::size_t cached_bytes(const Cpu& cpu) {
  const std::size_t bytes =
      std::min<std::size_t>(cpu.last_level_cache_bytes() / 4, 2 * cpu.inner_cache_bytes());
  return in_huge_pages(std::min(bytes, kMostCachedBytes));
}

// Chases from memory. Repetitions go on along the cycle, so that none meets lines that the last one left in a
// cache; where the cache is so large that it may hold them all the same, they are flushed.
class MemoryChases {
 public:
  MemoryChases(const Cpu& cpu, const Clock& clock, const ChaseBuffer& buffer)
      : clock_(clock), flush_(2 * cpu.last_level_cache_bytes() > buffer.bytes()) {}

  // What neighbours do lasts for some tens of milliseconds, mostly.
  double load_ns(const void*& line) const {
    std::vector<double> parts;
    for (int part = 0; part < 3; ++part) {
      flush(line, kTimedLoads);
      parts.push_back(timed_chase_ns(clock_, line, kTimedLoads));
    }
    return median(parts);
  }

 private:
  void flush(const void* line, std::size_t loads) const {
    if (flush_) flush_ahead(line, loads);
  }

  const Clock& clock_;
  bool flush_;
};

std::vector<double> cache_latencies(const Clock& clock, const ChaseBuffer& buffer, int repetitions) {
  const void* line = chase(buffer.start(), 2 * buffer.loads());
  std::vector<double> results;
  for (int repetition = 0; repetition < repetitions; ++repetition)
    results.push_back(timed_chase_ns(clock, line, 2 * buffer.loads()));
  return results;
}

// Of what neighbours in the same cache can only make slower.
Figure lowest(const std::vector<double>& values) {
  return {*std::min_element(values.begin(), values.end()), summarize(values).spread};
}

// The steps of a calibration, each of which fills its part of the result.
class Calibrator {
 public:
  Calibrator(const Cpu& cpu, const Clock& clock, const CalibrateOptions& options)
      : cpu_(cpu), clock_(clock), options_(options), repetitions_(std::max(options.repetitions, 1)) {}

  Result<Calibration> run() {
    result_.cpu_model = cpu_.model;
    result_.boot_id = read_boot_id();
    result_.clock_hz = clock_.hz();
    measure_ticks();
    Result<void> done = measure_caches();
    if (done) done = measure_base();
    if (done) done = measure_threshold();
    if (done) done = measure_small_pages();
    if (done && options_.bandwidth) done = measure_bandwidths();
    if (!done) return tl::unexpected<Error>(done.error());
    return result_;
  }

 private:
  void announce(std::string_view step, double done) const {
    if (options_.progress) options_.progress(step, done);
  }

  void keep(std::string_view key, const Figure& figure, double& member) const {
    member = figure.value;
    if (options_.measured) options_.measured(key, figure.spread);
  }

  // Where neighbours come and go and the host backs memory with pages of several sizes, one chase's figure is
  // that of its second and of its memory (169 to 201 ns, of eight processes one after the other). So it is
  // measured twice, some seconds apart, and in memory of its own each time.
  Result<void> measure_base() {
    announce("latency in huge pages", 0.1);
    const auto bytes = chase_bytes(cpu_);
    if (!bytes) return tl::unexpected<Error>(bytes.error());
    const auto first = ChaseBuffer::of_all_lines(*bytes, Pages::kHuge);
    if (!first) return tl::unexpected<Error>(first.error());
    result_.chase_bytes = static_cast<double>(*bytes);
    result_.huge_pages = first->has_huge_pages();
    if (const auto done = measure_short_chase(); !done) return done;
    std::vector<double> latencies;
    const void* line = add_latencies(*first, latencies);
    if (options_.on_chase) {
      announce("samples while waiting", 0.25);
      options_.on_chase(result_, line);
    }
    measure_window(line);
    announce("latency in huge pages, again", 0.4);
    const auto second = ChaseBuffer::of_all_lines(*bytes, Pages::kHuge);
    if (!second) return tl::unexpected<Error>(second.error());
    add_latencies(*second, latencies);
    const Figure base = summarize(latencies);
    keep("base_latency_ns", base, result_.base_latency_ns);
    result_.base_latency_spread = base.spread;
    result_.unstable = base.spread > kUnstableSpread;
    return {};
  }

  void measure_window(const void* line) {
    announce("instructions beside a miss", 0.35);
    const CoreWindow window = measure_core_window(clock_, line);
    result_.window_instructions = window.instructions;
    result_.waiting_instructions = window.waiting;
    result_.parallel_misses = window.misses;
  }

  // Where the chase has ended.
  const void* add_latencies(const ChaseBuffer& buffer, std::vector<double>& latencies) const {
    const MemoryChases chases(cpu_, clock_, buffer);
    const void* line = chase(buffer.start(), kWarmingLoads);
    for (int repetition = 0; repetition < repetitions_; ++repetition)
      latencies.push_back(chases.load_ns(line));
    return line;
  }

  // Just before the long one, so that what the two took belongs together.
  Result<void> measure_short_chase() {
    std::vector<double> short_chases;
    for (int repetition = 0; repetition < repetitions_; ++repetition) {
      const auto short_chase = ShortChase::create();
      if (!short_chase) return tl::unexpected<Error>(short_chase.error());
      short_chases.push_back(short_chase->measure(clock_).value);
    }
    keep("short_chase_ns", summarize(short_chases), result_.short_chase_ns);
    return {};
  }

  Result<void> measure_small_pages() {
    announce("latency in 4 KiB pages", 0.6);
    const auto buffer =
        ChaseBuffer::of_all_lines(static_cast<std::size_t>(result_.chase_bytes), Pages::kSmall);
    if (!buffer) return tl::unexpected<Error>(buffer.error());
    std::vector<double> latencies;
    add_latencies(*buffer, latencies);
    keep("small_page_latency_ns", summarize(latencies), result_.small_page_latency_ns);
    return {};
  }

  Result<void> measure_caches() {
    announce("cache latency", 0.05);
    auto cached = ChaseBuffer::of_all_lines(cached_bytes(cpu_), Pages::kHuge);
    if (!cached) return tl::unexpected<Error>(cached.error());
    cached_.emplace(*std::move(cached));
    keep("cache_latency_ns", lowest(cache_latencies(clock_, *cached_, repetitions_)),
         result_.cache_latency_ns);
    return measure_threshold();
  }

  // Takes some 0.1 s, and all of it may fall into a moment when memory is much slower: with a threshold of
  // 170 ns instead of 105 half of what comes from memory is taken for hits. So it is done again some seconds
  // later, and the lowest of all counts. Single loads are timed with the TSC; where that is not the clock,
  // its ticks mean nothing.
  Result<void> measure_threshold() {
    if (!clock_.uses_tsc()) return {};
    const auto short_chase = ShortChase::create();
    if (!short_chase) return tl::unexpected<Error>(short_chase.error());
    for (int repetition = 0; repetition < repetitions_; ++repetition) {
      const auto measured = measure_memory_threshold(clock_, *cached_, short_chase->buffer());
      overheads_.push_back(measured.overhead_ns);
      thresholds_.push_back(measured.threshold_ns);
    }
    keep("timing_overhead_ns", lowest(overheads_), result_.timing_overhead_ns);
    keep("memory_threshold_ns", lowest(thresholds_), result_.memory_threshold_ns);
    return {};
  }

  void measure_ticks() {
    announce("cost of samples", 0);
    keep("sample_cost_ns", measure_sample_cost(clock_), result_.sample_cost_ns);
    keep("timer_cost_ns", measure_timer_cost(clock_), result_.timer_cost_ns);
    keep("persist_latency_ns", measure_persist_cost(clock_), result_.persist_latency_ns);
  }

  Result<void> measure_bandwidths() {
    announce("bandwidth of one core", 0.7);
    const int passes = std::min(repetitions_, 3);  // each moves gigabytes: three agree
    const auto one = measure_bandwidth(cpu_, clock_, 1, passes);
    if (!one) return tl::unexpected<Error>(one.error());
    keep("read_bandwidth_bps", one->read_bps, result_.read_bandwidth_bps);
    keep("copy_bandwidth_bps", one->copy_bps, result_.copy_bandwidth_bps);
    announce("bandwidth of all cores", 0.85);
    const auto all = measure_bandwidth(cpu_, clock_, cpu_.logical_cpus, passes);
    if (!all) return tl::unexpected<Error>(all.error());
    keep("read_bandwidth_all_bps", all->read_bps, result_.read_bandwidth_all_bps);
    keep("copy_bandwidth_all_bps", all->copy_bps, result_.copy_bandwidth_all_bps);
    return {};
  }

  const Cpu& cpu_;
  const Clock& clock_;
  const CalibrateOptions& options_;
  int repetitions_;
  std::optional<ChaseBuffer> cached_;
  std::vector<double> overheads_, thresholds_;
  Calibration result_;
};

}  // namespace

Result<Calibration> calibrate(const Cpu& cpu, const Clock& clock, const CalibrateOptions& options) {
  return Calibrator(cpu, clock, options).run();
}

}  // namespace nvmemu
