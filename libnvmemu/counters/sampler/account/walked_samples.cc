// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/account/walked_samples.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/relaxed.h"

namespace nvmemu {
namespace {

void add_to(std::atomic<double>& sum, double value) noexcept {
  sum.store(sum.load(kRelaxed) + value, kRelaxed);
}

double sum_of(const ByTier<double>& counts) noexcept {
  return std::accumulate(counts.begin(), counts.end(), 0.0);
}

ByTier<double> by_tier(const ByStallKind<ByTier<double>>& misses) noexcept {
  ByTier<double> sums{};
  for (const ByTier<double>& of_kind : misses) {
    for (std::size_t tier = 0; tier < kMostTiers; ++tier) sums[tier] += of_kind[tier];
  }
  return sums;
}

}  // namespace

Verdict EveryLoad::verdict_of(const LoadEntry& load) noexcept {
  Verdict known{.executions = std::numeric_limits<double>::infinity()};
  if (waits_for_reads(load.kind)) {
    known.share = 1;
    known.miss_ns = miss_ns_;
  }
  return known;
}

void WalkedPool::add(double time_ns, const Verdict& verdict) noexcept {
  add_to(time_ns_, time_ns);
  add_to(memory_ns_, time_ns * verdict.share);
  if (verdict.miss_ns <= 0) return;
  const double misses = time_ns * verdict.share / verdict.miss_ns;
  add_to(misses_, misses);
  for (std::size_t tier = 0; tier < kMostTiers; ++tier) {
    if (verdict.of_tier[tier] > 0) add_to(tier_misses_[tier], misses * verdict.of_tier[tier]);
  }
}

// Until anything is known, half: the error that this can make is at most that.
Verdict WalkedPool::mean(double base_ns) const noexcept {
  constexpr double kPriorShare = 0.5;
  constexpr double kPriorNs = 1e6;  // which that counts for
  constexpr double kUnknownVariance = 0.25;
  const double time_ns = time_ns_.load(kRelaxed), memory_ns = memory_ns_.load(kRelaxed),
               misses = misses_.load(kRelaxed);
  Verdict result;
  result.share = (memory_ns + kPriorShare * kPriorNs) / (time_ns + kPriorNs);
  result.variance = std::min(kUnknownVariance, result.share * (1 - result.share));
  result.miss_ns = misses > 0 ? memory_ns / misses : base_ns;
  if (misses <= 0) return result;
  for (std::size_t tier = 0; tier < kMostTiers; ++tier)
    result.of_tier[tier] = static_cast<float>(tier_misses_[tier].load(kRelaxed) / misses);
  return result;
}

void WalkedSamples::add(const LoadEntry* entry, double time_ns) noexcept {
  const StallKind kind = entry == nullptr ? StallKind::kOther : entry->kind;
  by_kind_ns_[kind] += time_ns;
  ++samples_;
  add_misses_in_a_row(std::exchange(next_walked_misses_, {}));
  if (!may_wait_for_memory(kind) || (waits_for_stores(kind) && !rules_.has(Rule::kStores))) return;
  if (waits_for_reads(kind)) ++stall_samples_;
  const auto end = held_.begin() + distinct_;
  const auto held = std::find_if(held_.begin(), end, [&](const Held& one) { return one.entry == entry; });
  if (held != end) {
    held->time_ns += time_ns;
    ++held->samples;
  } else if (distinct_ < kDistinct) {
    held_[distinct_++] = {entry, time_ns, 1};
  } else if (waits_for_reads(kind)) {
    others_ns_ += time_ns;
    ++others_samples_;
  }
}

void WalkedSamples::add_misses_in_a_row(const ByTier<double>& misses) noexcept {
  if (!rules_.has(Rule::kOwnMisses)) return;
  for (std::size_t tier = 0; tier < kMostTiers; ++tier) walked_misses_[tier] += misses[tier];
}

void WalkedSamples::add_misses_with_next(const ByTier<double>& misses) noexcept {
  for (std::size_t tier = 0; tier < kMostTiers; ++tier) next_walked_misses_[tier] += misses[tier];
}

void WalkedSamples::add_overlap(const WalkOverlap& walk) noexcept {
  constexpr double kKept = 0.9;  // of what earlier walks have said, for each that says something
  if (walk.misses > 0) overlap_.add(walk, kKept);
}

// What of a miss is hidden behind other work is no stall, but is as long with longer misses: these are waited
// for by so much more than stalls alone say. Likewise a miss of a slow tier that is waited for together with
// one of a fast tier; one that is over before others are is waited for by less.
double WalkedSamples::hidden_factor() const noexcept {
  constexpr double kMost = 3;  // where nearly all is hidden, the model's little rest is too uncertain
  if (overlap_.plain_ns <= 0 || !rules_.has(Rule::kHidden)) return 1;
  return std::clamp(overlap_.longer_ns / overlap_.plain_ns, delays_.differ ? 0.0 : 1.0, kMost);
}

// What was waited for is as many misses as it is long; those that are on their way together are longer than
// walks have found them one by one.
double WalkedSamples::loaded_factor() const noexcept {
  return rules_.has(Rule::kLoaded) ? 1 / loaded_.of(overlap_.at_a_time()) : 1;
}

// Of misses that are waited for together, of two lists side by side, it is chance which load is found
// waiting, that of the fast tier or of the slow one; and what the model says is of them as they come.
void WalkedSamples::share_among_tiers() noexcept {
  if (!delays_.differ || !rules_.has(Rule::kTogether)) return;
  const double together = overlap_.together();
  if (together <= 0) return;
  for (ByTier<double>& of_kind : misses_) {
    const double misses = sum_of(of_kind);
    for (std::size_t tier = 0; tier < kMostTiers; ++tier) {
      const double as_walked = misses * overlap_.of_tier[tier] / overlap_.misses;
      of_kind[tier] += together * (as_walked - of_kind[tier]);
    }
  }
}

void WalkedSamples::charge(StallKind kind, double time_ns, double samples, const Verdict& verdict,
                           EpochCounts& counts) noexcept {
  const double memory_ns = time_ns * verdict.share;
  memory_samples_ += samples * verdict.share;
  counts.stall_ns += memory_ns;
  counts.kind_stall_ns[kind] += memory_ns;
  if (verdict.miss_ns > 0) {
    for (std::size_t tier = 0; tier < kMostTiers; ++tier)
      misses_[kind][tier] += memory_ns / verdict.miss_ns * verdict.of_tier[tier];
  }
  share_variance_ns2_ += time_ns * time_ns * verdict.variance;
}

// Of a load that walks know too little of.
void WalkedSamples::charge_mean(const Held& held, const Verdict& verdict, const Verdict& mean,
                                EpochCounts& counts) noexcept {
  if (!waits_for_reads(held.entry->kind)) return;
  const double before_ns = counts.stall_ns;
  charge(held.entry->kind, held.time_ns, held.samples, verdict.with(mean), counts);
  counts.unwalked_ns += counts.stall_ns - before_ns;
}

void WalkedSamples::charge_held(VerdictSource& verdicts, WalkedPool& pool, bool settle,
                                EpochCounts& counts) noexcept {
  constexpr double kLongestKeptNs = 200e6;
  constexpr std::uint32_t kMostEpochs = 20;
  const bool may_wait = !settle && rules_.has(Rule::kKeptBack);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < distinct_; ++i) {
    const Verdict verdict = verdicts.verdict_of(*held_[i].entry);
    if (verdict.is_known()) {
      const Verdict settled =
          verdict.miss_ns > 0 ? verdict : Verdict{.share = 0, .variance = verdict.variance};
      charge(held_[i].entry->kind, held_[i].time_ns, held_[i].samples, settled, counts);
      if (!waits_for_reads(held_[i].entry->kind) && settled.share > 0)
        counts.stall_samples += held_[i].samples;
      pool.add(held_[i].time_ns, settled);
    } else if (may_wait && held_[i].time_ns < kLongestKeptNs && ++held_[i].epochs < kMostEpochs) {
      held_[kept++] = held_[i];
    } else {
      charge_mean(held_[i], verdict, pool.mean(base_ns_), counts);
    }
  }
  distinct_ = std::min(kept, kMostKept);
  if (kept <= kMostKept) return;
  std::nth_element(held_.begin(), held_.begin() + kMostKept, held_.begin() + kept,
                   [](const Held& one, const Held& other) { return one.time_ns > other.time_ns; });
  for (std::size_t i = kMostKept; i < kept; ++i)
    charge_mean(held_[i], verdicts.verdict_of(*held_[i].entry), pool.mean(base_ns_), counts);
}

// It was waited for, but natively nobody would have.
void WalkedSamples::take_off_displaced(double displaced_ns, EpochCounts& counts) noexcept {
  constexpr double kMost = 0.5;  // what is estimated is not to be all that was seen
  if (counts.stall_ns <= 0 || !rules_.has(Rule::kDisplaced)) return;
  const double all_ns = std::min(memory_samples_ * displaced_ns, kMost * counts.stall_ns);
  const double left = 1 - all_ns / counts.stall_ns;
  counts.stall_ns *= left;
  counts.unwalked_ns *= left;
  for (double& of_kind_ns : counts.kind_stall_ns) of_kind_ns *= left;
  for (ByTier<double>& of_kind : misses_)
    for (double& misses : of_kind) misses *= left;
  counts.overhead_ns += all_ns;
}

double WalkedSamples::kept_back_ns() const noexcept {
  double sum_ns = 0;
  for (std::size_t i = 0; i < distinct_; ++i)
    if (waits_for_reads(held_[i].entry->kind)) sum_ns += held_[i].time_ns;
  return sum_ns;
}

// Of the misses; all, where there are none to tell.
double WalkedSamples::delayed_share() const noexcept {
  const ByTier<double> of_tier = by_tier(misses_);
  const double misses = sum_of(of_tier);
  if (misses <= 0) return 1;
  double delayed = 0;
  for (std::size_t tier = 0; tier < kMostTiers; ++tier)
    if (!delays_.are_none[tier]) delayed += of_tier[tier];
  return delayed / misses;
}

// Each kind's stall by where its own misses were.
void WalkedSamples::tell_by_tier(EpochCounts& counts) const noexcept {
  for (std::size_t kind = 0; kind < kStallKinds; ++kind) {
    const double misses = sum_of(misses_[kind]);
    for (std::size_t tier = 0; tier < kMostTiers && misses > 0; ++tier)
      counts.tier_stall_ns[tier][kind] = counts.kind_stall_ns[kind] * misses_[kind][tier] / misses;
  }
}

// Each of n samples is a memory stall or not: binomial, with the mean time that a sample stands for. Over all
// epochs of which something was kept back, until that has been charged: of which of them it was is not known.
double WalkedSamples::sampling_variance(double stall_ns) noexcept {
  constexpr double kLittle = 0.02;  // of the stall that was charged
  open_time_ns_ += std::accumulate(by_kind_ns_.begin(), by_kind_ns_.end(), 0.0);
  open_samples_ += static_cast<double>(samples_);
  open_stall_ns_ += stall_ns;
  if (open_time_ns_ <= 0) return 0;
  const double share = std::min(1.0, open_stall_ns_ / open_time_ns_);
  const double all_ns2 = open_time_ns_ * open_time_ns_ / open_samples_ * share * (1 - share);
  const double more_ns2 = std::max(0.0, all_ns2 - open_variance_ns2_);
  open_variance_ns2_ += more_ns2;
  if (kept_before_ns_ <= kLittle * open_stall_ns_)
    open_time_ns_ = open_samples_ = open_stall_ns_ = open_variance_ns2_ = 0;
  return more_ns2;
}

EpochCounts WalkedSamples::take(VerdictSource& verdicts, WalkedPool& pool, bool settle,
                                double displaced_ns) noexcept {
  EpochCounts counts;
  counts.held_ns = by_kind_ns_;
  counts.samples = static_cast<double>(samples_);
  counts.stall_samples = static_cast<double>(stall_samples_);
  misses_ = {};
  share_variance_ns2_ = memory_samples_ = 0;
  charge_held(verdicts, pool, settle, counts);
  const Verdict mean = pool.mean(base_ns_);
  counts.unwalked_ns += others_ns_ * mean.share;
  charge(StallKind::kLoad, others_ns_, others_samples_, mean, counts);
  take_off_displaced(displaced_ns, counts);
  // One load's share rests on other readings than another's, but is the same in all epochs.
  counts.share_error_ns = std::sqrt(share_variance_ns2_);
  const double kept_ns = kept_back_ns();
  share_among_tiers();
  likely_stall_ns_ = delayed_share() * (counts.stall_ns + mean.share * (kept_ns - kept_before_ns_));
  kept_before_ns_ = kept_ns;

  counts.sampling_variance_ns2 = sampling_variance(counts.stall_ns);
  // Neither the walk's own time nor the emulated memory's had to be waited for natively, but the misses.
  const double walked_ns = sum_of(walked_misses_) * mean.miss_ns;
  counts.stall_ns += walked_ns;
  counts.kind_stall_ns[StallKind::kLoad] += walked_ns;
  counts.overhead_ns -= walked_ns;
  const double factor = hidden_factor() * loaded_factor();
  for (ByTier<double>& of_kind : misses_)
    for (double& misses : of_kind) misses *= factor;
  for (std::size_t tier = 0; tier < kMostTiers; ++tier)
    misses_[StallKind::kLoad][tier] += walked_misses_[tier];
  tell_by_tier(counts);

  const ByTier<double> of_tier = by_tier(misses_);
  const double misses = sum_of(of_tier);
  counts.misses_in_a_row = misses > 0 ? misses : counts.stall_ns / mean.miss_ns;
  if (misses > 0) {
    for (std::size_t tier = 0; tier < kMostTiers; ++tier) counts.of_tier[tier] = of_tier[tier] / misses;
  }
  others_ns_ = others_samples_ = 0;
  walked_misses_ = {};
  by_kind_ns_ = {};
  samples_ = stall_samples_ = 0;
  return counts;
}

}  // namespace nvmemu
