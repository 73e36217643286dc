// SPDX-License-Identifier: Apache-2.0
#include "areas/vma_run.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>
#include <utility>

#include "areas/area_figures.h"
#include "areas/area_limits.h"
#include "areas/area_round.h"
#include "areas/faulters.h"
#include "run/describe.h"
#include "system/caretaker.h"
#include "system/kernel_setting.h"

namespace nvmemu::pmbench {
namespace {

constexpr double kAloneSeconds = 0.2;

FaulterResult& faulters_beside(std::optional<AreaPatternKind> pattern, std::vector<FaulterResult>& results) {
  for (FaulterResult& result : results) {
    if (result.beside == pattern) return result;
  }
  return results.emplace_back(FaulterResult{.beside = pattern, .seconds = 0, .faults = {}});
}

// Started and stopped around what they are beside.
class FaulterRuns {
 public:
  FaulterRuns(unsigned threads, const ChosenTimer& timer, std::vector<FaulterResult>& results)
      : threads_(threads), timer_(timer), results_(results) {}

  void start() {
    if (threads_ == 0) return;
    Result<Faulters> started = Faulters::start(threads_, timer_);
    if (started) {
      running_.emplace(*std::move(started));
    } else {
      error_ = started.error();
    }
  }
  void stop(std::optional<AreaPatternKind> beside) {
    if (!running_) return;
    const Faulters::Found found = running_->stop();
    running_.reset();
    FaulterResult& result = faulters_beside(beside, results_);
    result.seconds += found.seconds;
    result.faults.merge(found.faults);
  }
  Result<void> outcome() const { return error_ ? Result<void>(tl::unexpected(*error_)) : Result<void>(); }

 private:
  unsigned threads_;
  const ChosenTimer& timer_;
  std::vector<FaulterResult>& results_;
  std::optional<Faulters> running_;
  std::optional<Error> error_;
};

// The kernel's limit, while this lives.
class RaisedLimit {
 public:
  Result<void> raise(const VmaOptions& options) {
    const std::uint64_t wanted = area_needs(options).areas + kSpareAreas;
    if (!options.raise_limit || wanted <= read_area_limits().max_map_count) return {};
    Result<Caretaker> caretaker = Caretaker::start();
    if (!caretaker) return tl::unexpected(caretaker.error());
    caretaker_.emplace(*std::move(caretaker));
    Result<KernelSetting> set =
        KernelSetting::set("--raise-limit", kMaxMapCountFile, std::to_string(wanted), &*caretaker_);
    if (!set) return tl::unexpected(set.error());
    setting_.emplace(*std::move(set));
    return {};
  }

 private:
  std::optional<Caretaker> caretaker_;  // outlives the setting
  std::optional<KernelSetting> setting_;
};

}  // namespace

Result<void> measure_areas(const VmaOptions& options, Mapper& mapper, const AreaRunSeams& seams,
                           const Stop& stop, VmaResult& result) {
  std::vector<AreaPattern> patterns;
  std::vector<AreaFigures> figures;
  for (const AreaPatternKind kind : options.patterns) {
    patterns.emplace_back(kind, options.operations, options.seed);
    figures.emplace_back(patterns.back(), seams.timer.hz);
  }
  const AreaRoundRequest request{.touch = options.touch, .unmap = options.unmap, .fork = options.fork};
  FaulterRuns faulters(options.faulters, seams.timer, result.faulters);
  const auto is_stopped = [&] { return stop.requested().load(); };
  for (unsigned round = 0; round < options.rounds && !is_stopped(); ++round) {
    if (options.faulters > 0) {
      faulters.start();
      stop.wait(kAloneSeconds);
      faulters.stop(std::nullopt);
    }
    for (std::size_t i = 0; i < patterns.size() && !is_stopped(); ++i) {
      const AreaPatternKind kind = patterns[i].kind();
      if (seams.show) seams.show(fmt::format("round {} of {}: {}", round + 1, options.rounds, name_of(kind)));
      const AreaRoundHooks hooks{[&] { faulters.start(); }, [&] { faulters.stop(kind); }};
      const auto measured =
          measure_round(patterns[i], request, mapper, seams.read_slabs, stop.requested(), hooks);
      if (!measured) return tl::unexpected(measured.error());
      if (const Result<void> faulted = faulters.outcome(); !faulted) return faulted;
      if (measured->finished) figures[i].add(*measured);
    }
  }
  for (const AreaFigures& of_pattern : figures) result.cases.push_back(of_pattern.figures());
  result.interrupted = is_stopped();
  return {};
}

Result<VmaResult> run_vma(const VmaOptions& options, const Stop& stop,
                          const std::function<void(const std::string&)>& show) {
  if (const Result<void> checked = check_area_needs(options, read_area_limits()); !checked)
    return tl::unexpected(checked.error());
  RaisedLimit limit;
  if (const Result<void> raised = limit.raise(options); !raised) return tl::unexpected(raised.error());
  const RunDescription description = describe_run();
  VmaResult result;
  result.version = description.version;
  result.machine = description.machine;
  result.started = description.started;
  result.management = read_memory_management();
  result.options = options;
  const ChosenTimer timer = choose_timer();
  result.timer_ns = static_cast<double>(timer.cost.read_ticks) * 1e9 / timer.hz;
  const std::unique_ptr<Mapper> mapper = make_mapper(timer);
  const auto wait = [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  const AreaRunSeams seams{[&] { return settled([] { return read_area_slabs(); }, wait); }, timer, show};
  if (const Result<void> measured = measure_areas(options, *mapper, seams, stop, result); !measured)
    return tl::unexpected(measured.error());
  return result;
}

}  // namespace nvmemu::pmbench
