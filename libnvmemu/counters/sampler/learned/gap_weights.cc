// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/learned/gap_weights.h"

#include <algorithm>

namespace nvmemu {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
// Readings as expected that the steady state starts with, and as in the steady state that every other bin
// does: noise must not weigh. Bursts of 16 scatter by a fifth, and with revisits (RecentMisses) there is
// little to find.
constexpr double kExpectedReadings = 12;
constexpr double kPriorReadings = 192;
constexpr double kLowest = 0.25;
constexpr double kHighest = 1.25;  // above 1, so that noise around 1 does not pull the mean down

void add_to(std::atomic<double>& sum, double value) noexcept { sum.fetch_add(value, kRelaxed); }

}  // namespace

std::size_t GapWeights::bin_of(double since_gap_ms) {
  std::size_t bin = 0;
  for (double end = 1; bin + 1 < kBins && since_gap_ms >= end; end *= 2) ++bin;
  return bin;
}

double GapWeights::bin_start_ms(std::size_t bin) {
  return bin == 0 ? 0 : static_cast<double>(1U << (bin - 1));
}

void GapWeights::add(double since_gap_ms, const ProbeSums& sums, const UsualReadings& usual) noexcept {
  Bin& bin = bins_[bin_of(since_gap_ms)];
  add_to(bin.from_memory, sums.from_memory);
  add_to(bin.memory_ns, sums.memory_ns);
  add_to(bin.usual_ns, sums.from_memory * usual.miss_ns);
  if (usual.share < 0) return;
  add_to(bin.misses, sums.from_memory);
  add_to(bin.usual_misses, usual.share * sums.readings);
}

double GapWeights::steady_ns() const noexcept {
  const Bin& steady = bins_[kBins - 1];
  return (steady.memory_ns.load(kRelaxed) + kExpectedReadings * expected_ns_) /
         (steady.from_memory.load(kRelaxed) + kExpectedReadings);
}

double GapWeights::steady_misses() const noexcept { return bins_[kBins - 1].from_memory.load(kRelaxed); }

double GapWeights::weight(std::size_t bin) const noexcept {
  if (bin == kBins - 1) return 1;
  const double prior_ns = kPriorReadings * steady_ns();
  const double slower =
      (bins_[bin].memory_ns.load(kRelaxed) + prior_ns) / (bins_[bin].usual_ns.load(kRelaxed) + prior_ns);
  const double more = (bins_[bin].misses.load(kRelaxed) + kPriorReadings) /
                      (bins_[bin].usual_misses.load(kRelaxed) + kPriorReadings);
  return std::clamp(1 / (slower * more), kLowest, kHighest);
}

}  // namespace nvmemu
