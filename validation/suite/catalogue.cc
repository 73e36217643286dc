// SPDX-License-Identifier: Apache-2.0
#include "suite/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>

#include "suite/memory_catalogue.h"

namespace nvmemu::suite {
namespace {

using enum Truth;
using enum Program;
using enum Judged;

enum class Work : std::uint8_t { kNone, kWithinWindow, kBeyondWindow };

struct Entry {
  Truth truth;
  std::string_view name;
  Program program;
  std::string_view arguments;  // "SIZE" stands for the extent's size
  std::string_view amount;     // the option that says how much is done
  double amount_a_second;      // where a load takes 200 ns
  bool quick;
  Judged judged = kError;
  unsigned cpus = 1;
  std::string_view limit = {};
  Work work = Work::kNone;
};

constexpr std::string_view kBehindWork =
    "work that takes longer than a miss, and hides all of it: nothing is waited for that could be stretched";
constexpr std::string_view kEvicted =
    "a set that just fits a cache: neighbours evict it while a delay is spun, and the program waits for it "
    "again";
constexpr std::string_view kWrittenBack =
    "what was written back is read from memory again, so the set is in no cache: memory's own latency is "
    "stretched";

constexpr auto kEntries = std::to_array<Entry>({
    {kClosedForm, "chase, 1 chain", kChase, "--size SIZE --chains 1", "--loads", 5e6, true},
    {kClosedForm, "chase, 2 chains", kChase, "--size SIZE --chains 2", "--loads", 5e6, false},
    {kClosedForm, "chase, 4 chains", kChase, "--size SIZE --chains 4", "--loads", 5e6, true},
    {kClosedForm, "chase, 8 chains", kChase, "--size SIZE --chains 8", "--loads", 5e6, true},
    {kClosedForm, "chase, 16 chains", kChase, "--size SIZE --chains 16", "--loads", 4e6, false},
    {kClosedForm, "chase, 1 chain, 4 KiB", kChase, "--size SIZE --page-size 4KiB --chains 1", "--loads", 4e6,
     true},
    {kClosedForm, "chase, 4 chains, 4 KiB", kChase, "--size SIZE --page-size 4KiB --chains 4", "--loads", 4e6,
     false},
    {kClosedForm, "chase, 8 chains, 4 KiB", kChase, "--size SIZE --page-size 4KiB --chains 8", "--loads", 3e6,
     false},
    {kClosedForm, "lock hand-over", kSync, "--pattern lock --loads 5000", "--rounds", 500, true, kError, 2},
    {kClosedForm, "barrier", kSync, "--pattern barrier-both --loads 1000", "--rounds", 5000, false, kError,
     2},
    {kClosedForm, "persist loop", kWorkload, "persist --size SIZE", "--operations", 4.5e6, true},
    {kClosedForm, "chase, 20 multiplications", kChase, "--size SIZE --work 20", "--loads", 5e6, false, kError,
     1, "", Work::kWithinWindow},
    {kClosedForm, "chase, 20 divisions", kChase, "--size SIZE --divisions 20", "--loads", 5e6, false, kError,
     1, "", Work::kWithinWindow},
    {kClosedForm, "chase, 60 divisions", kChase, "--size SIZE --divisions 60", "--loads", 4e6, false, kLimit,
     1, kBehindWork, Work::kWithinWindow},
    {kClosedForm, "chase, 200 multiplications", kChase, "--size SIZE --work 200", "--loads", 3e6, false,
     kError, 1, "", Work::kBeyondWindow},
    {kClosedForm, "stores", kWorkload, "stores --size SIZE", "--operations", 4.5e6, false},
    {kPerAccess, "list", kWorkload, "list --size SIZE", "--operations", 4.5e6, true},
    {kPerAccess, "binary tree", kWorkload, "binary-tree --size SIZE", "--operations", 4.5e5, true},
    {kPerAccess, "B-tree", kWorkload, "b-tree --size SIZE", "--operations", 1.5e6, true},
    {kPerAccess, "hash chains", kWorkload, "hash-chains --size SIZE", "--operations", 1.6e6, true},
    {kPerAccess, "skip list", kWorkload, "skip-list --size SIZE", "--operations", 3.3e5, true},
    {kPerAccess, "random walk", kWorkload, "random-walk --size SIZE", "--operations", 2.5e6, true},
    {kPerAccess, "union-find", kWorkload, "union-find --size SIZE", "--operations", 4e5, true},
    {kPerAccess, "gather", kWorkload, "gather --size SIZE", "--operations", 8e7, true, kBounds},
    {kPerAccess, "BFS", kWorkload, "bfs --size SIZE", "--operations", 2.7e7, true, kBounds},
    {kPerAccess, "PageRank", kWorkload, "page-rank --size SIZE", "--operations", 8e7, false, kBounds},
    {kPerAccess, "merge sort", kWorkload, "merge-sort --size SIZE", "--operations", 1e8, false, kBounds},
    {kPerAccess, "matrix x vector", kWorkload, "matrix-vector --size SIZE", "--operations", 1e9, false,
     kBounds},
    {kPerAccess, "list in the cache", kWorkload, "list --size 1MiB", "--operations", 1e8, false, kLimit, 1,
     kEvicted},
    {kCacheTier, "chase", kChase, "--size SIZE --chains 1", "--loads", 5e6, true},
    {kCacheTier, "list", kWorkload, "list --size SIZE", "--operations", 4.5e6, true},
    {kCacheTier, "persist loop", kWorkload, "persist --size SIZE", "--operations", 4.5e6, false, kLimit, 1,
     kWrittenBack},
});

// What --quick promises is 2 minutes; what is begun by then still has to end.
constexpr double kMostQuickSeconds = 110;

std::string size_text(std::uint64_t bytes) { return fmt::format("{}KiB", bytes / 1024); }

struct ExtentOptions {
  Extent extent;
  std::string size;
  double seconds;  // of a native run
  double set_up_seconds;
  double cached_seconds;  // of a native run in the cache: one in memory takes many times as long
  unsigned rounds, repeats;
  std::vector<double> closed_form_ns, per_access_ns;
};

ExtentOptions options_of(Extent extent) {
  switch (extent) {
    case Extent::kQuick:
      return {extent, "256MiB", 0.6, 0.4, 0.2, 1, 1, {500}, {500}};
    case Extent::kUsual:
      return {extent, "512MiB", 1, 0.6, 0.8, 3, 2, {200, 500, 1000}, {500, 1000}};
    case Extent::kFull:
      break;
  }
  return {extent, "1GiB", 1.5, 1, 1.5, 5, 3, {200, 300, 500, 1000}, {500, 1000}};
}

// No target nearer to the base than this: an error of the base counts five times there.
constexpr double kLeastRatio = 1.25;

std::vector<double> possible(const std::vector<double>& targets_ns, double base_ns) {
  std::vector<double> result;
  for (const double target_ns : targets_ns) {
    const double possible_ns = std::max(target_ns, std::round(kLeastRatio * base_ns));
    if (result.empty() || possible_ns > result.back()) result.push_back(possible_ns);
  }
  return result;
}

Experiment experiment_of(const Entry& entry, const ExtentOptions& options, const Machine& machine) {
  constexpr double kUsualLatencyNs = 200, kLeastLatencyNs = 5;
  Experiment experiment;
  experiment.truth = entry.truth;
  experiment.name = entry.name;
  experiment.program = entry.program;
  experiment.arguments = words_of(entry.arguments, options.size);
  // Of a set in the cache, which is to be hit as often as it takes to be sampled as long.
  const bool in_cache = entry.truth == kCacheTier && entry.judged != kLimit;
  const double latency_ns = in_cache ? machine.cache_ns : machine.base_ns;
  experiment.seconds = in_cache ? options.cached_seconds : options.seconds;
  const double amount =
      entry.amount_a_second * experiment.seconds * kUsualLatencyNs / std::max(latency_ns, kLeastLatencyNs);
  experiment.arguments.emplace_back(entry.amount);
  experiment.arguments.push_back(fmt::format("{:.0f}", std::max(1.0, amount)));
  experiment.judged = entry.judged;
  experiment.cpus = entry.cpus;
  experiment.limit = entry.limit;
  experiment.set_up_seconds = options.set_up_seconds;
  if (entry.work != Work::kNone) {
    experiment.window_holds_work = entry.work == Work::kWithinWindow;
    experiment.work_arguments = experiment.arguments;
    std::ranges::replace(experiment.work_arguments, options.size,
                         "4KiB");  // in the first-level cache
  }
  if (entry.truth == kCacheTier) {
    experiment.slower_arguments = experiment.arguments;
    std::ranges::replace(experiment.arguments, options.size,
                         fmt::format("{}KiB", std::bit_floor(machine.cache_bytes) / 1024));
  }
  if (entry.truth == kClosedForm) experiment.targets_ns = possible(options.closed_form_ns, machine.base_ns);
  if (entry.truth == kPerAccess) experiment.targets_ns = possible(options.per_access_ns, machine.base_ns);
  return experiment;
}

Experiment as_numa(Experiment experiment) {
  experiment.truth = kNuma;
  experiment.targets_ns.clear();
  if (experiment.judged == kBounds) experiment.judged = kError;  // the truth is measured, not bounded
  return experiment;
}

// Natively every other page is on the far node, and emulated in a tier. Small ones: with each huge page a
// kernel takes one for its page table, in turn, too, and so all huge ones of the same node.
Experiment as_half_far(Experiment experiment) {
  experiment = as_numa(std::move(experiment));
  const auto amount = std::prev(experiment.arguments.end(), 2);  // the option, and how much
  experiment.arguments.insert(amount, {"--page-size", "4KiB"});
  experiment.name += ", half of the pages far";
  experiment.half_far = true;
  experiment.memory_options = {"--tier", "far=TARGET,interleave=1:1"};
  return experiment;
}

bool is_placed_in_halves(std::string_view name) {
  constexpr std::string_view kNames[] = {"chase, 1 chain", "chase, 4 chains", "list", "hash chains"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

}  // namespace

Plan plan(Extent extent, const Machine& machine, Choice choice) {
  ExtentOptions options = options_of(extent);
  if (machine.set_bytes > 0) options.size = size_text(machine.set_bytes);
  Plan result{{}, options.rounds, options.repeats, extent == Extent::kQuick ? kMostQuickSeconds : 0};
  std::vector<Experiment> on_nodes;
  for (const Entry& entry : kEntries) {
    if (extent == Extent::kQuick && choice == Choice::kOfExtent && !entry.quick) continue;
    const Experiment experiment = experiment_of(entry, options, machine);
    result.experiments.push_back(experiment);
    if (entry.truth == kCacheTier) continue;
    on_nodes.push_back(as_numa(experiment));
    if (is_placed_in_halves(entry.name)) on_nodes.push_back(as_half_far(experiment));
  }
  // None of these is among the most telling ones: they are of tiers and writes, which few ask for.
  if (extent != Extent::kQuick || choice == Choice::kAll) {
    const std::vector<Experiment> memories =
        memory_experiments(machine, options.size, options.seconds, options.set_up_seconds);
    result.experiments.insert(result.experiments.end(), memories.begin(), memories.end());
  }
  if (!machine.nodes) {
    Experiment none;
    none.name = "all workloads";
    on_nodes = {as_numa(none)};
  }
  result.experiments.insert(result.experiments.begin(), on_nodes.begin(), on_nodes.end());
  return result;
}

Experiment command_on_nodes(const std::vector<std::string>& words) {
  Experiment experiment;
  experiment.truth = kNuma;
  experiment.name = words.front();
  experiment.program = kCommand;
  experiment.arguments = words;
  experiment.cpus = 0;  // as many as it likes
  return experiment;
}

Experiment latency_chase(const Machine& machine) {
  Experiment experiment;
  experiment.name = "chase for the latency";
  experiment.arguments =
      words_of("--size SIZE --loads", machine.set_bytes > 0 ? size_text(machine.set_bytes) : "512MiB");
  experiment.arguments.push_back(fmt::format("{:.0f}", 2e8 / machine.base_ns));  // 0.2 s
  return experiment;
}

Experiment cached_chase(const Machine& machine) {
  Experiment experiment = latency_chase(machine);
  experiment.slower_arguments = experiment.arguments;
  experiment.arguments = {"--size", fmt::format("{}KiB", machine.cache_bytes / 1024), "--loads",
                          fmt::format("{:.0f}", 2e8 / machine.cache_ns)};
  return experiment;
}

}  // namespace nvmemu::suite
