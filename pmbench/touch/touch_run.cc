// SPDX-License-Identifier: Apache-2.0
#include "touch/touch_run.h"

#include <fmt/format.h>

#include <utility>

#include "memory/locked.h"
#include "memory/mapping.h"
#include "pattern/pattern.h"
#include "run/describe.h"
#include "system/kernel_files.h"
#include "touch/process_watch.h"
#include "touch/touch_loop.h"

namespace nvmemu::pmbench {
namespace {

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;

const TouchPatternDescription& description_of(TouchPattern pattern) {
  return kTouchPatterns[static_cast<std::size_t>(pattern)];
}

// One pass over memory that was never touched.
Result<TouchRun> run_once(const TouchNeeds& needs, const TouchCase& one, std::uint64_t seed,
                          const ChosenTimer& timer, const Stop& stop) {
  const std::uint64_t pages = needs.touched_bytes / kTouchPageBytes;
  const auto order =
      make_pattern({.name = std::string(description_of(one.pattern).drawn_by), .pages = pages, .seed = seed});
  if (!order) return tl::unexpected(order.error());
  Result<Mapping> memory = Mapping::create({.bytes = needs.touched_bytes, .huge_pages = one.huge_pages});
  if (!memory) return tl::unexpected(memory.error());
  Result<ProcessWatch> watch = ProcessWatch::open();
  if (!watch) return tl::unexpected(watch.error());
  const std::uint64_t swap_free = watch->sample().swap_free_bytes;
  const TouchLoopRequest request{
      .memory = memory->data(), .touches = pages, .timer = timer, .least_swap_free_bytes = swap_free / 10};
  const ReclaimCounters counters;
  const ReclaimUse before = counters.read();
  TouchRun run = touch_pages(request, **order, *watch, stop.requested());
  run.reclaim = difference(before, counters.read());
  return run;
}

std::vector<TouchCase> cases_of(const TouchOptions& options) {
  std::vector<TouchCase> cases;
  for (const HugePages huge_pages : options.huge_pages) {
    for (const TouchPattern pattern : options.patterns) cases.push_back({pattern, huge_pages, {}});
  }
  return cases;
}

}  // namespace

Result<void> arrange_touch(const TouchOptions& options, const TouchNeeds& needs, Surroundings& surroundings) {
  Options as_options;
  as_options.map_mib = as_options.set_mib = needs.touched_bytes / kMebibyte;
  as_options.memory_limit_bytes = options.memory_limit_bytes;
  as_options.page_cluster = options.page_cluster;
  // null_blk keeps pages in memory as they are: what the whole machine is short of, it does not free.
  const bool is_zram = options.whole_machine && options.swap_device == kAutoDevice;
  as_options.swap_device = is_zram ? kZramDevice : options.swap_device;
  as_options.swap_bytes = needs.made_swap_bytes;
  as_options.eater_bytes = needs.eaten_bytes;
  if (const Result<void> arranged = surroundings.arrange(as_options); !arranged) return arranged;
  if (const Result<void> first = write_text("/proc/self/oom_score_adj", "1000"); !first)
    return failure("cannot make this process the first to be killed: " + first.error().message);
  return {};
}

Result<TouchResult> run_touch(const TouchOptions& options, const TouchNeeds& needs, const Stop& stop,
                              const std::function<void(const std::string&)>& show) {
  RunDescription description = describe_run();
  TouchResult result;
  result.version = std::move(description.version);
  result.machine = std::move(description.machine);
  result.started = description.started;
  result.management = read_memory_management();
  result.options = options;
  result.memory_bytes = needs.memory_bytes;
  result.touched_bytes = needs.touched_bytes;
  const LockedProcess locked(needs.touched_bytes);
  if (!locked.complaint().empty()) result.warnings.push_back(locked.complaint());
  const ChosenTimer timer = choose_timer();
  result.timer_ns = static_cast<double>(timer.cost.write_ticks) * 1e9 / timer.hz;
  result.cases = cases_of(options);
  for (unsigned number = 0; number < options.runs; ++number) {
    for (TouchCase& one : result.cases) {
      if (stop.requested().load()) break;
      if (show) show(fmt::format("run {} of {}: {}", number + 1, options.runs, name_of(one)));
      Result<TouchRun> run = run_once(needs, one, options.seed + number, timer, stop);
      if (!run) return tl::unexpected(run.error());
      if (!stop.requested().load()) one.runs.push_back(*std::move(run));
    }
  }
  result.interrupted = stop.requested().load();
  return result;
}

}  // namespace nvmemu::pmbench
