// SPDX-License-Identifier: Apache-2.0
#include "suite/processes.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "report/report_reader.h"
#include "suite/measure.h"
#include "suite/pages.h"

namespace nvmemu::suite {
namespace {

using Figures = nlohmann::json;

// One delay for the whole run. While a delay is spun the set leaves the cache, and coming back from memory,
// some milliseconds, is stretched with the rest: a tenth of an epoch of 100 ms.
constexpr const char* kEpochInCache = "10s";

const char* file_of(Program program) {
  switch (program) {
    case Program::kChase:
      return "nvmemu-chase";
    case Program::kSync:
      return "nvmemu-sync";
    case Program::kWorkload:
      return "nvmemu-workload";
    case Program::kGather:
      return "nvmemu-gather";
    case Program::kTieredMemory:
      return "nvmemu-tiers";
    case Program::kPersist:
      return "nvmemu-persist";
    case Program::kCommand:
      break;
  }
  return "";
}

// The last lines of what a failed run said.
std::string end_of(const std::string& text) {
  constexpr std::size_t kMost = 300;
  std::string end = text.size() > kMost ? "..." + text.substr(text.size() - kMost) : text;
  while (!end.empty() && end.back() == '\n') end.pop_back();
  return end.empty() ? "it said nothing" : end;
}

Result<Figures> parse(const std::string& text) {
  Figures json = Figures::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object()) return failure("it printed no figures: " + end_of(text));
  return json;
}

Result<double> number(const Figures& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_number()) return failure(fmt::format("its figures lack {}", name));
  return found->get<double>();
}

// Of programs that say what a step takes: what they call that, and the number of steps.
struct SteppingProgram {
  Program program;
  const char *ns_per_step, *steps;
};
constexpr SteppingProgram kStepping[] = {{Program::kChase, "ns_per_load", "loads_per_chain"},
                                         {Program::kGather, "ns_per_load", "loads"},
                                         {Program::kTieredMemory, "ns_per_step", "steps"},
                                         {Program::kPersist, "ns_per_persist", "persists"}};

// What each program calls its time, and its critical path.
Result<void> read_time(const Figures& json, Program program, Measured& measured) {
  const auto* const stepping = std::ranges::find(kStepping, program, &SteppingProgram::program);
  if (stepping != std::end(kStepping)) {
    const auto ns = number(json, stepping->ns_per_step);
    const auto steps = number(json, stepping->steps);
    if (!ns || !steps) return tl::unexpected<Error>(!ns ? ns.error() : steps.error());
    measured.seconds = *ns * *steps / 1e9;
    measured.critical_loads = *steps;
    return {};
  }
  const auto seconds = number(json, "seconds");
  if (!seconds) return tl::unexpected<Error>(seconds.error());
  measured.seconds = *seconds;
  // Of nvmemu-workload the closed form is known of what makes one access an operation.
  const auto loads = number(json, program == Program::kWorkload ? "operations" : "critical_loads");
  if (loads) measured.critical_loads = *loads;
  return {};
}

void add_report(const RunReport& report, Measured& measured) {
  measured.base_ns = report.base_read_latency_ns;
  measured.stall_ns = report.totals.stall_ns;
  measured.injected_ns = report.totals.injected_ns;
}

Result<Measured> measured_of(const Experiment& experiment, const ChildOutcome& outcome, bool emulated) {
  Measured measured;
  if (experiment.program == Program::kCommand) {
    measured.seconds = outcome.wall_seconds;
  } else {
    auto parsed = parse_figures(experiment, outcome.out, emulated);
    if (!parsed) return parsed;
    measured = *std::move(parsed);
  }
  measured.steal_share = outcome.steal_share;
  return measured;
}

}  // namespace

Result<Measured> parse_figures(const Experiment& experiment, const std::string& text, bool emulated) {
  const auto json = parse(text);
  if (!json) return tl::unexpected<Error>(json.error());
  if (json->value("emulated", !emulated) != emulated)
    return failure(
        emulated ? "it ran natively, not emulated" : "it is emulated, without nvmemu run",
        emulated ? "the run report says why" : "LD_PRELOAD must not name the preload library here");
  Measured measured;
  if (const auto time = read_time(*json, experiment.program, measured); !time)
    return tl::unexpected<Error>(time.error());
  measured.checksum = json->value("checksum", "");
  measured.huge_pages = json->value("huge_pages", true);
  return measured;
}

std::vector<std::string> ProcessRuns::words_of(const Experiment& experiment) const {
  std::vector<std::string> words;
  if (experiment.program != Program::kCommand)
    words = {options_.programs + "/" + file_of(experiment.program), "--json"};
  words.insert(words.end(), experiment.arguments.begin(), experiment.arguments.end());
  return words;
}

ChildOptions ProcessRuns::child_options(const Experiment& experiment, const Placement& placement) const {
  ChildOptions options;
  options.cpus = options_.cpus;
  if (placement.cpu_node) options.cpus = options_.cpus_of_node.at(*placement.cpu_node);
  // The last one: the first has the most interrupts.
  if (experiment.program != Program::kCommand && experiment.cpus == 1) options.cpus = {options.cpus.back()};
  options.memory_node = placement.memory_node;
  options.other_memory_node = placement.other_memory_node;
  return options;
}

Result<ProcessRuns::Finished> ProcessRuns::run(const std::vector<std::string>& words,
                                               const Experiment& experiment,
                                               const Placement& placement) const {
  ChildOptions options = child_options(experiment, placement);
  PageCensus census;
  if (placement.memory_node) options.watch = [&census](pid_t pid) { census.look(pid); };
  auto outcome = run_child(words, options);
  if (!outcome) return tl::unexpected<Error>(outcome.error());
  if (outcome->status != 0)
    return failure(
        fmt::format("{}: exit status {}: {}", fmt::join(words, " "), outcome->status, end_of(outcome->err)));
  Finished finished{*std::move(outcome), {}};
  if (!placement.memory_node) return finished;
  const auto share = census.check(*placement.memory_node, placement.other_memory_node ? 0.5 : 1);
  if (!share) return tl::unexpected<Error>(share.error());
  finished.share_on_node = *share;
  return finished;
}

Result<Measured> ProcessRuns::native(const Experiment& experiment, const Placement& placement) {
  const auto finished = run(words_of(experiment), experiment, placement);
  if (!finished) return tl::unexpected<Error>(finished.error());
  auto measured = measured_of(experiment, finished->child, false);
  if (measured) measured->share_on_node = finished->share_on_node;
  return measured;
}

std::vector<std::string> memory_options_of(const Experiment& experiment, double target_ns) {
  constexpr std::string_view kTarget = "TARGET";
  std::vector<std::string> options = experiment.memory_options;
  if (options.empty()) options = {"--read-latency", std::string(kTarget)};
  for (std::string& option : options) {
    if (const std::size_t at = option.find(kTarget); at != std::string::npos)
      option.replace(at, kTarget.size(), fmt::format("{:.3f}ns", target_ns));
  }
  return options;
}

Result<Measured> ProcessRuns::emulated(const Experiment& experiment, const Placement& placement,
                                       const Emulation& emulation) {
  const std::string report_path = options_.folder + "/report.json";
  std::vector<std::string> words{options_.nvmemu, "run", "--quiet", "--report", report_path};
  const std::vector<std::string> memory = memory_options_of(experiment, emulation.target_ns);
  words.insert(words.end(), memory.begin(), memory.end());
  if (emulation.base_ns)
    words.insert(words.end(), {"--base-latency", fmt::format("{:.3f}ns", *emulation.base_ns)});
  if (emulation.cache_is_base) {
    words.insert(words.end(), {"--epoch", kEpochInCache});
    words.insert(words.begin(), {"env", "XDG_CACHE_HOME=" + options_.cache_as_memory});
  }
  words.emplace_back("--");
  const std::vector<std::string> command = words_of(experiment);
  words.insert(words.end(), command.begin(), command.end());

  const auto finished = run(words, experiment, placement);
  if (!finished) return tl::unexpected<Error>(finished.error());
  const auto report = read_report(report_path);
  unlink(report_path.c_str());
  if (!report) return tl::unexpected<Error>(report.error());
  auto measured = measured_of(experiment, finished->child, true);
  if (measured) {
    add_report(*report, *measured);
    measured->share_on_node = finished->share_on_node;
    // Without what nvmemu run does before and after: a command's time is its own.
    if (experiment.program == Program::kCommand) measured->seconds = report->wall_seconds;
  }
  return measured;
}

Result<Counted> ProcessRuns::twin(const Experiment& experiment) {
  // Of overlapping accesses a share of the operations is enough for a bound: the last argument is how many
  // there are.
  const double share = experiment.judged == Judged::kBounds ? kTwinShareOfOverlapping : 1;
  std::vector<std::string> words = words_of(experiment);
  words.back() = fmt::format("{:.0f}", std::max(1.0, std::ceil(share * std::stod(words.back()))));
  words.insert(words.end(), {"--twin", "--threshold", fmt::format("{:.3f}ns", options_.threshold_ns)});
  const auto finished = run(words, experiment, {});
  if (!finished) return tl::unexpected<Error>(finished.error());
  const auto json = parse(finished->child.out);
  if (!json) return tl::unexpected<Error>(json.error());
  std::array<double, 4> counts{};
  constexpr std::array kNames{"operations", "timed_operations", "accesses", "accesses_from_memory"};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto count = number(*json, kNames[i]);
    if (!count) return tl::unexpected<Error>(count.error());
    counts[i] = *count;
  }
  const auto [operations, timed, accesses, from_memory] = counts;
  const double per_timed = operations / timed / share;
  return Counted{from_memory * per_timed, accesses * per_timed, json->value("reading_from_memory_ns", 0.0),
                 json->value("checksum", "")};
}

}  // namespace nvmemu::suite
