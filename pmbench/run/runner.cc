// SPDX-License-Identifier: Apache-2.0
#include "run/runner.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "measure/timer.h"
#include "memory/contents.h"
#include "memory/locked.h"
#include "memory/mapping.h"
#include "memory/numa_policy.h"
#include "pattern/trace.h"
#include "run/describe.h"
#include "run/series.h"
#include "run/surroundings.h"
#include "run/workers.h"
#include "system/counters.h"
#include "system/kernel_files.h"

namespace nvmemu::pmbench {
namespace {

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;

Result<Mapping> make_mapping(const Options& options, const Affinity& affinity) {
  MappingRequest request;
  request.kind = options.memory;
  request.file = options.backing_file;
  request.bytes = options.map_mib * kMebibyte;
  request.written = options.read_percent < 100 || options.initialize;
  request.huge_pages = options.huge_pages;
  request.numa = options.numa.empty() ? affinity.policy() : options.numa;
  return Mapping::create(request);
}

// Contents where they are asked for. Where nothing would ever be written, pages that were never written to
// are all the kernel's one page of zeros: then they are made to exist.
void make_contents(const Options& options, const Mapping& mapping, const Stop& stop, RunResult& result) {
  const unsigned threads = std::max(1U, std::thread::hardware_concurrency());
  const std::uint64_t begin_ns = monotonic_raw_ns();
  if (options.initialize) {
    fill({mapping.data(), mapping.bytes()}, options.seed, options.compressible_percent.value_or(0), threads,
         stop.requested());
    result.initialize_seconds = static_cast<double>(monotonic_raw_ns() - begin_ns) / 1e9;
  } else if (options.read_percent == 100 && mapping.is_writable()) {
    populate({mapping.data(), options.set_mib * kMebibyte}, threads, stop.requested());
  }
}

Result<LoopSettings> loop_settings(const Options& options, const Mapping& mapping, int trace_marker) {
  LoopSettings settings;
  settings.memory = mapping.data();
  settings.page_shift = static_cast<unsigned>(std::countr_zero(options.page_bytes));
  settings.read_percent = options.read_percent;
  settings.word = options.offset;
  settings.write_needs_read = options.write_needs_read;
  settings.record = settings.classify = options.access == AccessMode::kHisto;
  settings.delay_ticks = options.delay_cycles;
  settings.timestamp = options.timestamp;
  settings.seed = options.seed;
  settings.trace_marker = trace_marker;
  const Result<Fence> fence = parse_fence(options.fence);
  if (!fence) return failure("--fence: " + fence.error().message);
  settings.fence = *fence;
  const Result<double> hz = timer_hz(options.timestamp);
  if (!hz) return tl::unexpected(hz.error());
  settings.hz = *hz;
  settings.cost = measure_timer_cost(settings.timestamp, settings.fence);
  if (options.threshold_ns > 0) {
    settings.threshold_ticks =
        settings.cost.read_ticks +
        static_cast<std::uint64_t>(static_cast<double>(options.threshold_ns) * *hz / 1e9);
  }
  return settings;
}

Result<std::vector<WorkerPhase>> worker_phases(const Options& options) {
  std::shared_ptr<const Trace> trace;
  const std::uint64_t pages = options.set_mib * kMebibyte / options.page_bytes;
  if (!options.trace_file.empty()) {
    Result<Trace> read = read_trace(options.trace_file, pages);
    if (!read) return tl::unexpected(read.error());
    trace = std::make_shared<const Trace>(*std::move(read));
  }
  std::vector<WorkerPhase> phases;
  for (const Phase& phase : options.phases) {
    WorkerPhase made;
    made.pattern = {.name = phase.pattern,
                    .pages = pages,
                    .shape = phase.shape,
                    .shape_given = phase.shape_given,
                    .seed = options.seed,
                    .thread = 0,
                    .threads = options.jobs,
                    .trace = trace};
    made.warm_up_accesses = warm_up_rounds(phase.pattern) * pages;
    if (const auto pattern = make_pattern(made.pattern); !pattern) return tl::unexpected(pattern.error());
    phases.push_back(std::move(made));
  }
  return phases;
}

FaultCounts process_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {static_cast<std::uint64_t>(usage.ru_minflt), static_cast<std::uint64_t>(usage.ru_majflt),
          static_cast<std::uint64_t>(usage.ru_nivcsw)};
}

std::uint32_t phase_at(const Options& options, double elapsed_s) {
  double end_s = 0;
  for (std::uint32_t i = 0; i < options.phases.size(); ++i) {
    end_s += options.phases[i].seconds;
    if (elapsed_s < end_s) return i;
  }
  return static_cast<std::uint32_t>(options.phases.size() - 1);
}

// When something is to be done next: a second's end, a phase's, the middle, the end.
double next_event_s(const Options& options, double elapsed_s) {
  double next_s = std::min(std::floor(elapsed_s + 1), options.duration_s);
  double end_s = 0;
  for (const Phase& phase : options.phases) {
    end_s += phase.seconds;
    if (end_s > elapsed_s) next_s = std::min(next_s, end_s);
  }
  if (options.duration_s / 2 > elapsed_s) next_s = std::min(next_s, options.duration_s / 2);
  return next_s;
}

// The timed part: from when the workers are let go to when the last has stopped.
void measure(const Options& options, const Stop& stop, const ShowStatus& show, const std::string& cgroup,
             Workers& workers, RunResult& result) {
  Series series(workers, cgroup);
  const FaultCounts before = process_faults();
  const std::uint64_t begin_ns = monotonic_raw_ns();
  const auto elapsed_s = [&] { return static_cast<double>(monotonic_raw_ns() - begin_ns) / 1e9; };
  std::uint32_t phase = 0;
  double point_s = 0;  // when the last point was made
  workers.set_phase(phase);
  for (double at_s = 0; at_s < options.duration_s;) {
    const double next_s = next_event_s(options, at_s);
    if (stop.wait(next_s - elapsed_s())) break;
    at_s = next_s;
    if (at_s >= options.duration_s) break;
    if (at_s == options.duration_s / 2) result.snapshots.push_back(take_snapshot("mid-run"));
    const std::uint32_t next_phase = phase_at(options, at_s);
    if (at_s >= std::floor(point_s + 1) || next_phase != phase) {
      series.add(options.phases[phase].pattern);
      point_s = at_s;
      if (show) show({"measuring", &series.points().back()});
    }
    if (next_phase != phase) workers.set_phase(phase = next_phase);
  }
  workers.stop();
  series.add(options.phases[phase].pattern);
  const FaultCounts after = process_faults();
  result.minor_faults = after.minor - before.minor;
  result.major_faults = after.major - before.major;
  result.series = series.points();
  result.windows = run_windows();
  result.interrupted = stop.requested().load();
}

// Until all have warmed up, or they are asked to stop.
void wait_for(const Workers& workers, const Stop& stop, const ShowStatus& show) {
  if (show) show({"warming up"});
  while (!workers.are_ready() && !stop.wait(0.01)) {
  }
}

RunResult describe(const Options& options) {
  RunDescription description = describe_run();
  RunResult result;
  result.version = std::move(description.version);
  result.options = options;
  result.machine = std::move(description.machine);
  result.started = description.started;
  result.uuid = read_line("/proc/sys/kernel/random/uuid");
  return result;
}

// The kernel has it off, and says so, on machines with one node.
std::string balancing_warning() {
  constexpr const char* kSwitch = "/proc/sys/kernel/numa_balancing";
  const std::string state = read_line(kSwitch);
  if (state.empty() || state == "0") return {};
  return fmt::format(
      "NUMA balancing is on: the kernel takes pages away from time to time, to see who uses them, and "
      "accesses to those are minor faults (echo 0 >{})",
      kSwitch);
}

// Averages and lateness are of all the run: filling and warming up go there, too.
DelayCounts since(const DelayCounts& before, DelayCounts now) {
  now.reads -= before.reads;
  now.writes -= before.writes;
  now.read_pages -= before.read_pages;
  now.written_pages -= before.written_pages;
  now.overdue -= before.overdue;
  return now;
}

// With the memory mapped: all but what is found when it is unmapped.
Result<void> run_mapped(const Options& options, const Stop& stop, const ShowStatus& show,
                        const Surroundings& surroundings, RunResult& result) {
  const Result<Affinity> affinity = Affinity::parse(options.affinity);
  if (!affinity) return tl::unexpected(affinity.error());
  Result<std::vector<WorkerPhase>> phases = worker_phases(options);
  if (!phases) return tl::unexpected(phases.error());
  const Result<Mapping> mapping = make_mapping(options, *affinity);
  if (!mapping) return tl::unexpected(mapping.error());
  if (show) show({"filling"});
  make_contents(options, *mapping, stop, result);
  const Result<LoopSettings> settings = loop_settings(options, *mapping, surroundings.trace_marker());
  if (!settings) return tl::unexpected(settings.error());
  result.clock_khz = settings->hz / 1e3;
  result.timer_ns = static_cast<double>(settings->cost.read_ticks) * 1e9 / settings->hz;
  result.timer_write_ns = static_cast<double>(settings->cost.write_ticks) * 1e9 / settings->hz;

  result.snapshots.push_back(take_snapshot("pre-warmup"));
  Workers workers(*settings, *std::move(phases), *affinity, options.jobs, !options.cold);
  wait_for(workers, stop, show);
  result.snapshots.push_back(take_snapshot("pre-run"));
  const DelayCounts before = surroundings.swap_counts();
  measure(options, stop, show, surroundings.cgroup_folder(), workers, result);
  result.swap = since(before, surroundings.swap_counts());
  result.snapshots.push_back(take_snapshot("post-run"));
  result.threads = workers.results();
  result.seconds = workers.seconds();
  for (std::string& warning : workers.warnings()) result.warnings.push_back(std::move(warning));
  return {};
}

}  // namespace

Result<RunResult> run(const Options& options, const Stop& stop, const ShowStatus& show) {
  RunResult result = describe(options);
  Surroundings surroundings;
  if (const Result<void> arranged = surroundings.arrange(options); !arranged)
    return tl::unexpected(arranged.error());
  result.swap_taken = surroundings.swap_taken();
  const LockedProcess locked(options.map_mib * kMebibyte);
  for (const std::string& warning : {locked.complaint(), balancing_warning()}) {
    if (!warning.empty()) result.warnings.push_back(warning);
  }
  if (const Result<void> ran = run_mapped(options, stop, show, surroundings, result); !ran)
    return tl::unexpected(ran.error());
  result.snapshots.push_back(take_snapshot("post-unmap"));
  return result;
}

}  // namespace nvmemu::pmbench
