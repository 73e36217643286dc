// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/account/persist_estimate.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace nvmemu {
namespace {

// By how much a usual core may differ from the model of one, either way, in what work takes.
constexpr double kModelDiffers = 1.5;
constexpr double kUsualNs = 1e6;  // for which a walk stands: from one tick to the next
constexpr double kKept = 0.5;     // of what walks have said, in the next epoch

double sum_of(const ByTier<std::uint32_t>& counts) noexcept {
  return std::accumulate(counts.begin(), counts.end(), 0.0);
}

}  // namespace

// Here, one after the other. Lines of a persist that are fetched again are so together.
double PersistEstimate::waited_ns(const PersistsPassed& passed) const noexcept {
  return sum_of(passed.persists) * own_ns_ + sum_of(passed.refetched) * refetch_ns_;
}

double PersistEstimate::here_ns(const PersistsPassed& passed, double work_ns) const noexcept {
  return std::max(waited_ns(passed), work_ns);
}

double PersistEstimate::emulated_ns(const PersistsPassed& passed, double work_ns) const noexcept {
  double beside_ns = 0, behind_ns = 0;  // what work is done beside, and what is waited for whatever there is
  for (std::size_t tier = 0; tier < kMostTiers; ++tier) {
    const PersistTarget& target = (*targets_)[tier];
    const double persists = passed.persists[tier], lines = passed.lines[tier];
    if (persists <= 0) continue;
    // A latency below the machine's own adds nothing, here as where persists are told.
    const double each_ns = std::max(own_ns_, target.durable_after_ns(lines / persists));
    if (target.own_ns < 0) beside_ns += persists * each_ns;
    if (target.own_ns >= 0) behind_ns += persists * (each_ns - own_ns_);
    if (target.own_ns >= 0) beside_ns += persists * own_ns_;
  }
  return std::max(std::max(beside_ns, work_ns) + behind_ns, written_ns(passed));
}

// In the long run media are no faster than that, whatever their queues hold; each writes by itself.
double PersistEstimate::written_ns(const PersistsPassed& passed) const noexcept {
  double longest_ns = 0;
  for (std::size_t tier = 0; tier < kMostTiers; ++tier)
    longest_ns = std::max(longest_ns, passed.blocks[tier] * (*targets_)[tier].block_ns);
  return longest_ns;
}

double PersistEstimate::longer_share(const WalkPersists& walk, double work_ns) const noexcept {
  const double here = here_ns(walk.modelled, work_ns);
  return emulated_ns(walk.modelled, here) / here - 1;
}

// The modelled part may end before the first fence of a long round.
double PersistEstimate::likely_persist_ns(const WalkPersists& walk) const noexcept {
  if (walk.rounds.fence == 0 || walk.steps == 0) return 0;
  const double persists = sum_of(walk.all.persists);
  const double waited = persists > 0 ? waited_ns(walk.all) / persists : own_ns_;
  return std::max(waited, walk.ns / walk.steps * walk.rounds.instructions / walk.rounds.persists);
}

void PersistEstimate::add_rates(const PersistsPassed& passed, double weight, double here_ns,
                                double longer) noexcept {
  persists_per_ns_ += weight * sum_of(passed.persists) / here_ns;
  lines_per_ns_ += weight * sum_of(passed.lines) / here_ns;
  for (std::size_t tier = 0; tier < kMostTiers; ++tier)
    busy_per_ns_[tier] +=
        weight * (*targets_)[tier].busy_ns(passed.lines[tier], passed.blocks[tier]) / here_ns;
  longer_ += weight * longer;
  longer_squared_ += weight * longer * longer;
}

// Of a round that takes so much here it is not known what of that is work, but none of it can be longer than
// the round is: what the emulated memory takes beyond it is waited for.
void PersistEstimate::add(const WalkPersists& walk, double measured_ns, double over_ns) noexcept {
  if (targets_ == nullptr || walk.ns <= 0) return;
  const double here = sum_of(walk.all.persists) * measured_ns;
  const double weight = here > 0 && over_ns > 0 ? over_ns / kUsualNs : 1;
  walks_ += weight;
  walks_squared_ += weight * weight;
  if (here > 0) return add_rates(walk.all, weight, here, emulated_ns(walk.all, here) / here - 1);
  if (sum_of(walk.modelled.persists) <= 0) return;
  add_rates(walk.modelled, weight, here_ns(walk.modelled, walk.ns), longer_share(walk, walk.ns));
  model_error_ +=
      std::abs(longer_share(walk, walk.ns / kModelDiffers) - longer_share(walk, walk.ns * kModelDiffers)) / 2;
}

PersistCounts PersistEstimate::take(double cpu_ns) noexcept {
  if (targets_ == nullptr) return {};
  waiting_ns_ += std::max(0.0, cpu_ns);
  if (walks_ <= 0) return {};
  const double ns = std::exchange(waiting_ns_, 0), longer = longer_ / walks_;
  // Of the mean: what earlier walks have said counts in several epochs. Of a single one it is not known.
  const double count = walks_ * walks_ / walks_squared_;  // of such that all weigh the same
  const double spread =
      count > 1 ? (longer_squared_ / walks_ - longer * longer) / (count - 1) / (1 - kKept) : longer * longer;
  PersistCounts counts{.persists = ns * persists_per_ns_ / walks_,
                       .lines = ns * lines_per_ns_ / walks_,
                       .delay_ns = ns * longer,
                       .model_error_ns = ns * model_error_ / walks_,
                       .variance_ns2 = ns * ns * std::max(0.0, spread)};
  for (std::size_t tier = 0; tier < kMostTiers; ++tier)
    counts.busy_ns[tier] = ns * busy_per_ns_[tier] / walks_;
  forget();
  return counts;
}

// By half with each epoch; but what was said last is better than nothing.
void PersistEstimate::forget() noexcept {
  constexpr double kFewest = 1. / 64;
  if (walks_ < kFewest) return;
  for (double* const sum : {&walks_, &walks_squared_, &persists_per_ns_, &lines_per_ns_, &longer_,
                            &longer_squared_, &model_error_})
    *sum *= kKept;
  for (double& busy : busy_per_ns_) busy *= kKept;
}

void PersistEstimates::add(bool waits, const WalkPersists& walk, double own_cpu_ns) noexcept {
  PersistEstimate& estimate = kinds_[waits ? 1 : 0].estimate;
  const double measured_ns =
      round_time_.persist_ns(walk.rounds, own_cpu_ns, estimate.likely_persist_ns(walk));
  estimate.add(walk, measured_ns, round_time_.over_ns());
}

PersistCounts PersistEstimates::take(double cpu_ns) noexcept {
  waiting_ns_ += cpu_ns;
  const double ticks_ns = kinds_[0].ticks_ns + kinds_[1].ticks_ns;
  if (ticks_ns <= 0) return {};
  PersistCounts sum;
  for (Kind& kind : kinds_) {
    sum += kind.estimate.take(waiting_ns_ * kind.ticks_ns / ticks_ns);
    kind.ticks_ns = 0;
  }
  waiting_ns_ = 0;
  return sum;
}

}  // namespace nvmemu
