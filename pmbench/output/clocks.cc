// SPDX-License-Identifier: Apache-2.0
#include "output/clocks.h"

#include <algorithm>

namespace nvmemu::pmbench {
namespace {

double per_access(double ns, std::uint64_t accesses) {
  return accesses == 0 ? 0 : ns / static_cast<double>(accesses);
}

double delay_ns(const RunResult& result) {
  return result.clock_khz > 0 ? static_cast<double>(result.options.delay_cycles) * 1e6 / result.clock_khz : 0;
}

}  // namespace

ThreadMeans means_of(const ThreadResult& thread, const RunResult& result) {
  ThreadMeans means;
  LatencyCounts recorded = thread.reads;
  recorded.merge(thread.writes);
  means.drawing_ns = per_access(thread.generating_ns, thread.accesses);
  means.warmup_ns = per_access(thread.warmup_ns, thread.warmup_accesses);
  const double loop_ns = per_access(thread.loop_ns, thread.accesses);
  // A delay is never shorter than what was asked for, but the clock may be known a little wrong: what was
  // measured is the least that can be left.
  const double least_ns = result.from_bands ? 0 : recorded.mean_ns();
  means.with_drawing_ns = loop_ns > 0 ? std::max(loop_ns - delay_ns(result), least_ns) : 0;
  means.net_ns = recorded.count > 0 && !result.from_bands
                     ? recorded.mean_ns()
                     : std::max(means.with_drawing_ns - means.drawing_ns, 0.0);
  return means;
}

std::uint64_t to_clocks(double ns, double clock_khz) {
  const double clocks = ns * clock_khz / 1e6;
  return clocks > 0 && clocks < 1e18 ? static_cast<std::uint64_t>(clocks) : 0;
}

}  // namespace nvmemu::pmbench
