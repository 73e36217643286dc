// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/gap_weights.h"

#include <algorithm>

namespace nvmemu {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr double kPriorReadings = 8;  // readings at ratio 1 that every bin starts with: noise must not weigh
constexpr double kExpectedReadings = 64;
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

void GapWeights::add(double since_gap_ms, double burst_mean_ns, double load_mean_ns,
                     double readings) noexcept {
  if (load_mean_ns <= 0 || readings <= 0) return;
  Bin& bin = bins_[bin_of(since_gap_ms)];
  add_to(bin.ratio_sum, burst_mean_ns / load_mean_ns * readings);
  add_to(bin.readings, readings);
}

void GapWeights::add_steady(double memory_ns, double readings) noexcept {
  add_to(steady_sum_ns_, memory_ns);
  add_to(steady_readings_, readings);
}

double GapWeights::steady_ns(double expected_ns) const noexcept {
  const double readings = steady_readings_.load(kRelaxed);
  return (steady_sum_ns_.load(kRelaxed) + kExpectedReadings * expected_ns) / (readings + kExpectedReadings);
}

double GapWeights::ratio(std::size_t bin) const noexcept {
  const double readings = bins_[bin].readings.load(kRelaxed);
  return (bins_[bin].ratio_sum.load(kRelaxed) + kPriorReadings) / (readings + kPriorReadings);
}

double GapWeights::weight(std::size_t bin) const noexcept {
  if (bin == kBins - 1) return 1;
  return std::clamp(1 / ratio(bin), kLowest, kHighest);
}

}  // namespace nvmemu
