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
#include "host/recurring_figures.h"
#include "host/statistics.h"

namespace nvmemu {
namespace {

constexpr std::size_t kMebibyte = std::size_t{1} << 20;
constexpr std::size_t kChaseBytes = 256 * kMebibyte;
constexpr std::size_t kLeastChaseBytes = 64 * kMebibyte;
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

// A search that a noisy moment leads astray ends far off: the median of each figure.
class CoreWindows {
 public:
  void add(const CoreWindow& window) { windows_.push_back(window); }
  CoreWindow median() const {
    return {.instructions = median_of(&CoreWindow::instructions),
            .waiting = median_of(&CoreWindow::waiting),
            .misses = median_of(&CoreWindow::misses)};
  }

 private:
  double median_of(double CoreWindow::*member) const {
    std::vector<double> values;
    for (const CoreWindow& window : windows_) values.push_back(window.*member);
    return nvmemu::median(values);
  }
  std::vector<CoreWindow> windows_;
};

// The steps of a calibration, each of which fills its part of the result.
class Calibrator {
 public:
  Calibrator(const Cpu& cpu, const Clock& clock, const CalibrateOptions& options)
      : cpu_(cpu), clock_(clock), options_(options), repetitions_(std::max(options.repetitions, 1)) {}

  Result<Calibration> run() {
    result_.cpu_model = cpu_.model;
    result_.boot_id = read_boot_id();
    result_.clock_hz = clock_.hz();
    announce("cost of samples", 0);
    keep("sample_cost_ns", measure_sample_cost(clock_), result_.sample_cost_ns);
    auto recurring = RecurringFigures::create(cpu_, clock_);
    if (!recurring) return tl::unexpected<Error>(recurring.error());
    recurring_.emplace(*std::move(recurring));
    Result<void> done = measure_recurring();
    if (done) done = measure_memory();
    if (done && options_.bandwidth) done = measure_bandwidths();
    if (done) done = measure_recurring();
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

  Result<void> measure_recurring() { return recurring_->measure(result_, options_.measured); }

  // Where neighbours come and go and the host backs memory with pages of several sizes, one chase's figure is
  // that of its second and of its memory (169 to 201 ns, of eight processes one after the other). So it is
  // measured in two memories, and in each of them at two times, some seconds apart.
  Result<void> measure_memory() {
    const auto bytes = chase_bytes(cpu_);
    if (!bytes) return tl::unexpected<Error>(bytes.error());
    result_.chase_bytes = static_cast<double>(*bytes);
    const Result<ChaseBuffer> second = measure_first(*bytes);
    if (!second) return tl::unexpected<Error>(second.error());
    if (const auto done = measure_second(*second); !done) return done;
    const Figure base = summarize(base_latencies_);
    keep("base_latency_ns", base, result_.base_latency_ns);
    result_.base_latency_spread = base.spread;
    result_.unstable = base.spread > kUnstableSpread;
    const CoreWindow window = windows_.median();
    result_.window_instructions = window.instructions;
    result_.waiting_instructions = window.waiting;
    result_.parallel_misses = window.misses;
    return {};
  }

  // With what is measured of its chase alone. The second is made while this one is there: of other memory.
  Result<ChaseBuffer> measure_first(std::size_t bytes) {
    announce("latency in huge pages", 0.1);
    auto buffer = ChaseBuffer::of_all_lines(bytes, Pages::kHuge);
    if (!buffer) return buffer;
    result_.huge_pages = buffer->has_huge_pages();
    const void* line = add_latencies(*buffer, buffer->start(), base_latencies_, first_half());
    if (const auto done = measure_recurring(); !done) return tl::unexpected<Error>(done.error());
    announce("what a core does meanwhile", 0.2);
    measure_core(line);
    announce("latency in huge pages, again", 0.4);
    line = add_latencies(*buffer, line, base_latencies_, second_half());
    if (const auto done = measure_recurring(); !done) return tl::unexpected<Error>(done.error());
    announce("latency in other memory", 0.45);
    return ChaseBuffer::of_all_lines(bytes, Pages::kHuge);
  }

  // In turns with the same in small pages.
  Result<void> measure_second(const ChaseBuffer& buffer) {
    const void* line = add_latencies(buffer, buffer.start(), base_latencies_, first_half());
    measure_core(line);
    if (const auto done = measure_recurring(); !done) return done;
    announce("latency in 4 KiB pages", 0.6);
    const auto small = ChaseBuffer::of_all_lines(buffer.bytes(), Pages::kSmall);
    if (!small) return tl::unexpected<Error>(small.error());
    std::vector<double> latencies;
    const void* small_line = add_latencies(*small, small->start(), latencies, first_half());
    line = add_latencies(buffer, line, base_latencies_, second_half());
    measure_core(line);
    add_latencies(*small, small_line, latencies, second_half());
    keep("small_page_latency_ns", summarize(latencies), result_.small_page_latency_ns);
    return measure_recurring();
  }

  // Three times, some seconds apart.
  void measure_core(const void* line) {
    windows_.add(measure_core_window(clock_, line));
    if (options_.on_chase) options_.on_chase(result_, line);
  }

  int first_half() const { return (repetitions_ + 1) / 2; }
  int second_half() const { return repetitions_ - first_half(); }

  // Where the chase has ended.
  const void* add_latencies(const ChaseBuffer& buffer, const void* line, std::vector<double>& latencies,
                            int count) const {
    const MemoryChases chases(cpu_, clock_, buffer);
    if (count > 0) line = chase(line, kWarmingLoads);
    for (int repetition = 0; repetition < count; ++repetition) latencies.push_back(chases.load_ns(line));
    return line;
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
  std::optional<RecurringFigures> recurring_;
  std::vector<double> base_latencies_;
  CoreWindows windows_;
  Calibration result_;
};

}  // namespace

Result<Calibration> calibrate(const Cpu& cpu, const Clock& clock, const CalibrateOptions& options) {
  return Calibrator(cpu, clock, options).run();
}

}  // namespace nvmemu
