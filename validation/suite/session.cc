// SPDX-License-Identifier: Apache-2.0
#include "suite/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "suite/duration.h"
#include "suite/numa.h"

namespace nvmemu::suite {
namespace {

bool holds(std::string_view text, std::string_view part) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

std::function<double()> seconds_since_now() {
  const std::uint64_t start_ns = monotonic_raw_ns();
  return [start_ns] { return static_cast<double>(monotonic_raw_ns() - start_ns) / 1e9; };
}

std::vector<Row> skipped(const Experiment& experiment, const std::string& why) {
  Row row;
  row.experiment = experiment;
  row.skipped = why;
  return {row};
}

// Measures, one after the other; what several experiments need is measured once.
class Session {
 public:
  Session(Runs& runs, const Machine& machine) : runs_(runs), machine_(machine) {}

  std::vector<Row> measure(const Experiment& experiment, const MeasureOptions& options) {
    if (experiment.cpus > machine_.cpus)
      return skipped(experiment, fmt::format("needs {} processors", experiment.cpus));
    switch (experiment.truth) {
      case Truth::kNuma:
        return on_nodes(experiment, options);
      case Truth::kCacheTier:
        return in_cache(experiment, options);
      case Truth::kTiers:
        if (!experiment.slower_arguments.empty()) return in_cache(experiment, options);
        break;
      case Truth::kClosedForm:
      case Truth::kPerAccess:
      case Truth::kWrites:
        break;
    }
    return measure_added(runs_, experiment, options);
  }

 private:
  std::vector<Row> on_nodes(const Experiment& experiment, const MeasureOptions& options) {
    if (!machine_.nodes) return skipped(experiment, machine_.nodes.error().message);
    if (machine_.node_latencies)
      return against(experiment, memory_of(*machine_.nodes, *machine_.node_latencies), options);
    if (!nodes_) nodes_ = measure_nodes(runs_, latency_chase(machine_), *machine_.nodes, options);
    if (*nodes_) {
      if (const std::string why = why_not_slower(**nodes_); !why.empty()) return skipped(experiment, why);
    }
    return against(experiment, *nodes_, options);
  }

  std::vector<Row> in_cache(const Experiment& experiment, const MeasureOptions& options) {
    // Anew for each: what is left of the cache, and memory's latency, drift by a tenth within minutes.
    return against(experiment, measure_cache_and_memory(runs_, cached_chase(machine_), options), options);
  }

  std::vector<Row> against(const Experiment& experiment, Result<SlowerMemory> memory,
                           const MeasureOptions& options) {
    if (memory) {
      if (experiment.half_far) memory->slower.other_memory_node = memory->own.memory_node;
      return {measure_slower(runs_, experiment, *memory, options)};
    }
    Row row;
    row.experiment = experiment;
    row.failure = memory.error();
    return {row};
  }

  Runs& runs_;
  const Machine& machine_;
  std::optional<Result<SlowerMemory>> nodes_;
};

}  // namespace

void keep_only(Plan& plan, const std::vector<Truth>& truths, const std::vector<std::string>& workloads) {
  const auto is_exact = [&](const std::string& workload) {
    return std::ranges::any_of(plan.experiments, [&](const Experiment& experiment) {
      return experiment.name.size() == workload.size() && holds(experiment.name, workload);
    });
  };
  std::vector<std::string> exact, parts;
  for (const std::string& workload : workloads) (is_exact(workload) ? exact : parts).push_back(workload);
  std::erase_if(plan.experiments, [&](const Experiment& experiment) {
    if (std::ranges::find(truths, experiment.truth) == truths.end()) return true;
    const auto is_in = [&](const std::string& workload) { return holds(experiment.name, workload); };
    const auto is_it = [&](const std::string& workload) {
      return experiment.name.size() == workload.size() && is_in(workload);
    };
    return !workloads.empty() && std::ranges::none_of(exact, is_it) && std::ranges::none_of(parts, is_in);
  });
}

std::vector<Row> run_plan(Runs& runs, const Plan& plan, const Machine& machine,
                          const SessionOptions& options) {
  const double all = std::max(estimated_seconds(plan, machine), 1e-9);
  const std::function<double()> elapsed_seconds =
      options.elapsed_seconds ? options.elapsed_seconds : seconds_since_now();
  double done = 0;
  std::vector<Row> rows;
  Session session(runs, machine);
  for (const Experiment& experiment : plan.experiments) {
    std::vector<Row> found;
    if (options.stop && options.stop()) {
      found = skipped(experiment, "interrupted");
    } else {
      MeasureOptions measuring;
      measuring.rounds = plan.rounds;
      measuring.repeats = plan.repeats;
      measuring.stop = options.stop;
      const double left = all - done - estimated_seconds(experiment, plan.rounds, machine) +
                          estimated_sample_seconds(experiment, machine);
      measuring.may_repeat = [&, left] {
        return plan.most_seconds <= 0 || elapsed_seconds() + left <= plan.most_seconds;
      };
      measuring.progress = [&](std::string_view step) {
        if (options.progress) options.progress(fmt::format("{}: {}", experiment.name, step), done / all);
      };
      found = session.measure(experiment, measuring);
    }
    rows.insert(rows.end(), found.begin(), found.end());
    done += estimated_seconds(experiment, plan.rounds, machine);
  }
  return rows;
}

}  // namespace nvmemu::suite
