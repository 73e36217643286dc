// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/probe/probe_schedule.h"

#include <algorithm>
#include <cmath>

#include "base/xorshift.h"
#include "counters/sampler/learned/gap_weights.h"

namespace nvmemu {
namespace {

// A thread's first bursts tell most: it may spend this much in advance.
constexpr double kInitialCreditNs = 16e6;
constexpr double kReserve = 0.25;      // of that, kept for loads that turn up later
constexpr double kUsualBudget = 0.01;  // a smaller one has less to spend in advance
constexpr double kMostCreditNs = 16e6;
// What a long burst of share probes takes. Natural ones come first after a gap: without that much left over,
// they would leave none for shares, which a program that is delayed for misses that it does not have needs.
constexpr double kShareBurstNs = 2e6;
// A thread that has not been delayed yet is in the steady state.
constexpr double kSteadyMs = 64;
constexpr double kSteadyIntervalMs = 8;
constexpr int kMostNaturals = 6;

constexpr double kShortestGapNs = 2e6;
// Measured (docs/sampling.md): short injections g between runs r slow a program by as much as a long gap t
// ago, where g / r * kForgetMs = kSaturatedMs * exp(-t / kForgetMs).
constexpr double kForgetMs = 10;
constexpr double kSaturatedMs = 64;

}  // namespace

ProbeSchedule::ProbeSchedule(double budget, double steady_after_ms, std::uint64_t seed)
    : budget_(budget),
      steady_after_ms_(steady_after_ms),
      credit_ns_(kInitialCreditNs * std::min(1.0, budget / kUsualBudget)),
      since_gap_ms_(kSteadyMs),
      next_ms_(kSteadyMs),
      random_(seed * 2 + 1) {}

std::uint64_t ProbeSchedule::next_random() noexcept { return random_ = next_xorshift(random_); }

void ProbeSchedule::on_time(double cpu_ns) noexcept {
  since_gap_ms_ += cpu_ns / 1e6;
  recent_ms_ *= kForgetMs / (kForgetMs + cpu_ns / 1e6);
  credit_ns_ = std::min(kMostCreditNs, credit_ns_ + budget_ * cpu_ns);
}

bool ProbeSchedule::is_gap(double injected_ns) noexcept { return injected_ns >= kShortestGapNs; }

double ProbeSchedule::since_gap_ms() const noexcept {
  const double share = std::clamp(recent_ms_ / kSaturatedMs, 1e-6, 1.0);
  return std::min(since_gap_ms_, -kForgetMs * std::log(share));
}

void ProbeSchedule::on_injection(double injected_ns) noexcept {
  credit_ns_ = std::min(kMostCreditNs, credit_ns_ + budget_ * injected_ns);
  if (!is_gap(injected_ns)) {
    recent_ms_ += injected_ns / 1e6;
    return;
  }
  since_gap_ms_ = 0;
  next_ms_ = GapWeights::bin_start_ms(next_random() % GapWeights::kBins);
}

BurstKind ProbeSchedule::next_kind() const noexcept {
  if (naturals_ >= kMostNaturals && since_gap_ms_ >= steady_after_ms_) return BurstKind::kShare;
  return since_gap_ms() < steady_after_ms_ || natural_next_ ? BurstKind::kNatural : BurstKind::kShare;
}

void ProbeSchedule::on_burst(double cost_ns) noexcept { credit_ns_ -= cost_ns; }

bool ProbeSchedule::due(bool unknown) const noexcept {
  const double for_shares_ns = since_gap_ms() < steady_after_ms_ ? kShareBurstNs : 0;
  const double reserve_ns = (unknown ? 0 : kReserve * kInitialCreditNs) + for_shares_ns;
  return budget_ > 0 && credit_ns_ > reserve_ns * std::min(1.0, budget_ / kUsualBudget) &&
         since_gap_ms_ >= next_ms_;
}

void ProbeSchedule::on_armed() noexcept {
  naturals_ = next_kind() == BurstKind::kNatural ? naturals_ + 1 : 0;
  if (since_gap_ms() >= steady_after_ms_) natural_next_ = !natural_next_;
  const std::size_t bin = GapWeights::bin_of(since_gap_ms_) + 1 + next_random() % 3;
  next_ms_ =
      bin < GapWeights::kBins
          ? GapWeights::bin_start_ms(bin)
          : std::max(since_gap_ms_, GapWeights::bin_start_ms(GapWeights::kBins - 1)) + kSteadyIntervalMs;
}

}  // namespace nvmemu
