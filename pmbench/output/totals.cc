// SPDX-License-Identifier: Apache-2.0
#include "output/totals.h"

namespace nvmemu::pmbench {
namespace {

std::optional<std::uint64_t> vmstat_major_faults(const RunResult& result) {
  const MemorySnapshot* before = find_snapshot(result, "pre-run");
  const MemorySnapshot* after = find_snapshot(result, "post-run");
  if (before == nullptr || after == nullptr || after->pgmajfault < before->pgmajfault) return std::nullopt;
  return after->pgmajfault - before->pgmajfault;
}

}  // namespace

const MemorySnapshot* find_snapshot(const RunResult& result, std::string_view name) {
  for (const MemorySnapshot& snapshot : result.snapshots) {
    if (snapshot.name == name) return &snapshot;
  }
  return nullptr;
}

Totals totals_of(const RunResult& result) {
  Totals totals;
  for (const ThreadResult& thread : result.threads) {
    totals.accesses += thread.accesses;
    totals.own_faults += thread.own_faults;
    totals.migrations += thread.migrations;
    totals.reads.merge(thread.reads);
    totals.writes.merge(thread.writes);
    for (std::size_t i = 0; i < kAccessClasses; ++i) totals.classes[i].merge(thread.classes[i]);
  }
  totals.all = totals.reads;
  totals.all.merge(totals.writes);
  if (result.seconds > 0) totals.accesses_per_s = static_cast<double>(totals.accesses) / result.seconds;
  totals.vmstat_major_faults = vmstat_major_faults(result);
  return totals;
}

}  // namespace nvmemu::pmbench
