// SPDX-License-Identifier: Apache-2.0
#include "suite/memory_catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

#include "device/device.h"
#include "plan/memory_target.h"

namespace nvmemu::suite {
namespace {

using enum Truth;
using enum Program;

constexpr std::string_view kFar = "--tier far=TARGET";  // of reads; all else stays

struct MemoryEntry {
  Truth truth;
  std::string_view name;
  Program program;
  std::string_view arguments;  // "SIZE" stands for the size of sets in memory
  std::string_view amount;     // the option that says how much is done
  double amount_a_second;      // natively, where a load takes 200 ns
  std::string_view memory;     // nvmemu run's options
  Adds adds = Adds::kLoads;
  double share = 1;
  unsigned lines = 1;  // of a persist
};

// By Yang et al., FAST 2020 (12-flush_instr_lat): store, clwb and fence of so much on one module.
struct PublishedPersist {
  std::string_view name;
  unsigned lines;
  double ns;
};
constexpr PublishedPersist kOptanePersists[] = {{"persist of 64 B as on Optane", 1, 116},
                                                {"persist of 256 B as on Optane", 4, 192},
                                                {"persist of 1 KiB as on Optane", 16, 601},
                                                {"persist of 4 KiB as on Optane", 64, 1774}};

constexpr unsigned kManyChains = 16;  // as many misses at a time as a chase can have
constexpr double kPersistBps = 2.4e9;
constexpr double kPersistNs = 1000;
// All that nobody places, which is all: so that persists have a bandwidth.
constexpr std::string_view kPersists = "--tier nvm=1x,write-latency=TARGET,persist-bandwidth=2.4GB/s,rest";

constexpr auto kMemoryEntries = std::to_array<MemoryEntry>({
    {kTiers, "chase, 1 of 10 nodes far", kChase, "--size SIZE", "--loads", 5e6,
     "--tier far=TARGET,interleave=9:1,granularity=2MiB", Adds::kLoads, 0.1},
    {kTiers, "chase, 5 of 10 nodes far", kChase, "--size SIZE", "--loads", 5e6,
     "--tier far=TARGET,interleave=5:5,granularity=2MiB", Adds::kLoads, 0.5},
    {kTiers, "chase, 9 of 10 nodes far", kChase, "--size SIZE", "--loads", 5e6,
     "--tier far=TARGET,interleave=1:9,granularity=2MiB", Adds::kLoads, 0.9},
    {kTiers, "chase, interleaved 3:1", kChase, "--size SIZE --page-size 4KiB", "--loads", 4e6,
     "--tier far=TARGET,interleave=3:1", Adds::kLoads, 0.25},
    {kTiers, "gather, 1 of 10 nodes far", kGather, "--far 1 --size SIZE", "--loads", 5e7,
     "--tier far=TARGET,interleave=9:1,granularity=2MiB", Adds::kGroups, 0.1},
    {kTiers, "gather, 5 of 10 nodes far", kGather, "--far 1 --size SIZE", "--loads", 5e7,
     "--tier far=TARGET,interleave=5:5,granularity=2MiB", Adds::kGroups, 0.5},
    {kTiers, "gather, 9 of 10 nodes far", kGather, "--far 1 --size SIZE", "--loads", 5e7,
     "--tier far=TARGET,interleave=1:9,granularity=2MiB", Adds::kGroups, 0.9},
    {kTiers, "radix tree, leaves far", kTieredMemory, "tree --size SIZE", "--steps", 4e6, kFar},
    {kTiers, "two lists, one far", kTieredMemory, "lists --size SIZE", "--steps", 4.5e6, kFar},
    {kTiers, "two lists, none far", kTieredMemory, "lists --size SIZE --tier none", "--steps", 4.5e6, kFar,
     Adds::kNothing},
    {kTiers, "chain, every other node far", kTieredMemory, "chain --size SIZE", "--steps", 2.2e6, kFar},
    {kWrites, "persist, 1 line", kPersist, "--lines 1", "--rounds", 5e6, kPersists, Adds::kRounds, 1, 1},
    {kWrites, "persist, 4 lines", kPersist, "--lines 4", "--rounds", 4e6, kPersists, Adds::kRounds, 1, 4},
    {kWrites, "persist, 16 lines", kPersist, "--lines 16", "--rounds", 4e6, kPersists, Adds::kRounds, 1, 16},
    {kWrites, "persist, 64 lines", kPersist, "--lines 64", "--rounds", 2e6, kPersists, Adds::kRounds, 1, 64},
    {kWrites, "persist, 400 multiplications beside", kPersist, "--lines 1 --work 400", "--rounds", 2e6,
     kPersists, Adds::kRounds},
    {kWrites, "persist, 4000 multiplications beside", kPersist, "--lines 1 --work 4000", "--rounds", 3e5,
     kPersists, Adds::kRounds},
    {kWrites, "inline persist, 1 line", kPersist, "--lines 1 --untold", "--rounds", 5e6, kPersists,
     Adds::kRounds},
    {kWrites, "inline persist, 400 multiplications beside", kPersist, "--lines 1 --work 400 --untold",
     "--rounds", 2e6, kPersists, Adds::kRounds},
    {kWrites, "inline persist by clflushopt", kPersist, "--lines 1 --by clflushopt --untold", "--rounds", 4e6,
     kPersists, Adds::kRounds},
    {kWrites, "inline persist by clflush", kPersist, "--lines 1 --by clflush --untold", "--rounds", 4e6,
     kPersists, Adds::kRounds},
    {kWrites, "inline persist by movnti, 4 lines", kPersist, "--lines 4 --by movnti --untold", "--rounds",
     5e6, kPersists, Adds::kRounds},
    {kWrites, "store misses", kGather, "--stores --size SIZE", "--loads", 5e7, "--read-latency TARGET",
     Adds::kGroups},
    {kWrites, "lock behind a persist", kPersist, "--lines 1 --lock", "--rounds", 3e6, "--read-latency TARGET",
     Adds::kNothing},
});

Experiment experiment_of(const MemoryEntry& entry, const Machine& machine, const std::string& size,
                         double seconds) {
  constexpr double kUsualLatencyNs = 200, kLineBytes = 64, kTimesBase = 3;
  Experiment experiment;
  experiment.truth = entry.truth;
  experiment.name = entry.name;
  experiment.program = entry.program;
  experiment.arguments = words_of(entry.arguments, size);
  experiment.arguments.emplace_back(entry.amount);
  const double amount = entry.amount_a_second * seconds * kUsualLatencyNs / std::max(machine.base_ns, 5.0);
  experiment.arguments.push_back(fmt::format("{:.0f}", std::max(1.0, amount)));
  experiment.memory_options = words_of(entry.memory, size);
  experiment.adds = entry.adds;
  experiment.share = entry.share;
  if (entry.adds == Adds::kGroups)
    experiment.together_arguments =
        words_of(fmt::format("--size SIZE --chains {} --loads {:.0f}", kManyChains,
                             seconds * 1e9 / std::max(machine.base_ns, 5.0)),
                 size);
  if (entry.adds == Adds::kGroups && entry.share < 1) {
    experiment.share_arguments = experiment.arguments;
    experiment.judged = Judged::kBounds;
    *std::next(std::ranges::find(experiment.share_arguments, "--far")) = "SHARE";
  }
  experiment.further_ns = (entry.lines - 1) * kLineBytes * 1e9 / kPersistBps;
  const bool persists = entry.adds == Adds::kRounds;
  experiment.targets_ns = {persists ? kPersistNs : kTimesBase * machine.base_ns};
  experiment.seconds = seconds;
  return experiment;
}

// The nodes of one list in memory and of the other in the cache, natively; and both in the cache, those of
// the first in a tier that is as slow as memory.
Experiment cached_list_and_far_one(const Machine& machine, const std::string& size, double seconds) {
  const std::uint64_t bytes = std::bit_floor(machine.cache_bytes) / 2;
  const std::string half = fmt::format("{}KiB", bytes / 1024);
  const std::string steps = fmt::format("{:.0f}", seconds * 1e9 / (machine.base_ns + machine.cache_ns));
  Experiment experiment;
  experiment.truth = kTiers;
  experiment.name = "chain in the cache, every other node far";
  experiment.program = kTieredMemory;
  experiment.arguments = {"chain", "--size", half, "--fast-size", half, "--steps", steps};
  experiment.slower_arguments = {"chain", "--size", size, "--fast-size", half, "--steps", steps};
  experiment.memory_options = words_of(kFar, size);
  experiment.seconds = seconds / 2;
  experiment.judged = Judged::kLimit;
  experiment.limit =
      "walks begin behind a tick, which has put a part of the set out of the cache: their hits take longer";
  return experiment;
}

// What its profile makes of persists, but for the first line's latency: that is a ratio, of what this machine
// takes.
std::string optane_persists() {
  const MemoryTarget target = memory_target_of(find_built_in_profile("optane-dcpmm")->device);
  std::string tier = "--tier nvm=1x,write-latency=TARGET";
  for (const MemoryField& field : memory_fields()) {
    const bool is_of_writes = field.key.starts_with("persist") || field.key.starts_with("write-");
    const bool is_other = field.key == "write-latency" || field.key == "write-bandwidth";
    const std::string value = is_of_writes && !is_other ? field.write(target) : "";
    if (!value.empty()) tier += fmt::format(",{}={}", field.key, value);
  }
  return tier + ",rest";
}

// A round takes what was published, or what it takes here, whichever is more.
Experiment persist_as_published(const PublishedPersist& published, const Machine& machine, double seconds) {
  const std::string arguments = fmt::format("--lines {}", published.lines);
  const std::string memory = optane_persists();
  Experiment experiment =
      experiment_of({kWrites, published.name, kPersist, arguments, "--rounds", 3e6, memory, Adds::kRounds},
                    machine, "", seconds);
  experiment.targets_ns = {kOptanePersists[0].ns};
  experiment.further_ns = published.ns - kOptanePersists[0].ns;
  return experiment;
}

}  // namespace

std::vector<Experiment> memory_experiments(const Machine& machine, const std::string& size, double seconds,
                                           double set_up_seconds) {
  std::vector<Experiment> experiments;
  for (const MemoryEntry& entry : kMemoryEntries)
    experiments.push_back(experiment_of(entry, machine, size, seconds));
  for (const PublishedPersist& published : kOptanePersists)
    experiments.push_back(persist_as_published(published, machine, seconds));
  if (machine.cache_bytes > 0) experiments.push_back(cached_list_and_far_one(machine, size, seconds));
  for (Experiment& experiment : experiments) experiment.set_up_seconds = set_up_seconds;
  return experiments;
}

}  // namespace nvmemu::suite
