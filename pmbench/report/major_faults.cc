// SPDX-License-Identifier: Apache-2.0
#include "report/major_faults.h"

#include <algorithm>

namespace nvmemu::pmbench {
namespace {

using Basis = MajorFaults::Basis;

double middle_ns(const LatencyCounts& all, std::size_t i) {
  const std::uint64_t end = i + 1 < Buckets::kCount ? Buckets::begin_ns(i + 1) : all.max_ns + 1;
  return static_cast<double>(Buckets::begin_ns(i) + std::min(end, all.max_ns + 1) - 1) / 2;
}

// Of the `wanted` slowest; the bucket in which they begin counts in part.
MajorFaults slowest(const LatencyCounts& all, std::uint64_t wanted, Basis basis) {
  MajorFaults faults;
  double sum_ns = 0;
  for (std::size_t i = Buckets::kCount; i-- > 0 && faults.count < wanted;) {
    const std::uint64_t taken = std::min(all.counts[i], wanted - faults.count);
    if (taken == 0) continue;
    sum_ns += static_cast<double>(taken) * middle_ns(all, i);
    faults.count += taken;
    faults.mode_ns = static_cast<double>(Buckets::begin_ns(i));  // for now: where they begin
  }
  if (faults.count == 0) return faults;
  faults.basis = basis;
  faults.mean_ns = sum_ns / static_cast<double>(faults.count);
  faults.mode_ns = all.mode_ns(faults.mode_ns);
  return faults;
}

}  // namespace

MajorFaults major_faults_of(const RunResult& result, const Totals& totals) {
  const LatencyCounts& classed = totals.classes[static_cast<std::size_t>(AccessClass::kMajorFault)];
  if (classed.count > 0) return {Basis::kClassed, classed.count, classed.mean_ns(), classed.mode_ns()};
  if (!result.from_bands) return slowest(totals.all, result.major_faults, Basis::kSlowestByRusage);
  return slowest(totals.all, totals.vmstat_major_faults.value_or(0), Basis::kSlowestByVmstat);
}

std::string_view explain(Basis basis) {
  switch (basis) {
    case Basis::kNone:
      return "none known";
    case Basis::kClassed:
      return "accesses seen to fault, a sample";
    case Basis::kSlowestByRusage:
      return "the slowest accesses, as many as the process had major faults (rusage)";
    case Basis::kSlowestByVmstat:
      return "the slowest accesses, as many as the machine had major faults (vmstat)";
  }
  return "";
}

}  // namespace nvmemu::pmbench
