// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/account/walked_samples.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace nvmemu {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

// A store is waited for when those before it, whose lines are being fetched, fill the store buffer.
bool may_wait_for_memory(StallKind kind) { return waits_for_reads(kind) || kind == StallKind::kStore; }

void add_to(std::atomic<double>& sum, double value) noexcept {
  sum.store(sum.load(kRelaxed) + value, kRelaxed);
}

}  // namespace

Verdict EveryLoad::verdict_of(const LoadEntry& load) noexcept {
  Verdict known{.executions = std::numeric_limits<double>::infinity()};
  if (waits_for_reads(load.instruction.kind)) {
    known.share = 1;
    known.miss_ns = miss_ns_;
  }
  return known;
}

void WalkedPool::add(double time_ns, const Verdict& verdict) noexcept {
  add_to(time_ns_, time_ns);
  add_to(memory_ns_, time_ns * verdict.share);
  if (verdict.miss_ns > 0) add_to(misses_, time_ns * verdict.share / verdict.miss_ns);
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
  return result;
}

void WalkedSamples::add(const LoadEntry* entry, double time_ns) noexcept {
  const StallKind kind = entry == nullptr ? StallKind::kOther : entry->instruction.kind;
  by_kind_ns_[static_cast<std::size_t>(kind)] += time_ns;
  ++samples_;
  if (!may_wait_for_memory(kind) || (kind == StallKind::kStore && !rules_.has(Rule::kStores))) return;
  if (waits_for_reads(kind)) ++stall_samples_;
  const auto end = held_.begin() + distinct_;
  const auto held = std::find_if(held_.begin(), end, [&](const Held& one) { return one.entry == entry; });
  if (held != end) {
    held->time_ns += time_ns;
  } else if (distinct_ < kDistinct) {
    held_[distinct_++] = {entry, time_ns};
  } else if (waits_for_reads(kind)) {
    others_ns_ += time_ns;
  }
}

void WalkedSamples::add_overlap(double stall_ns, double longer_ns) noexcept {
  constexpr double kKept = 0.9;  // of what earlier walks have said, for each that says something
  if (stall_ns <= 0 || !rules_.has(Rule::kHidden)) return;
  modelled_stall_ns_ = kKept * modelled_stall_ns_ + stall_ns;
  modelled_longer_ns_ = kKept * modelled_longer_ns_ + longer_ns;
}

// What of a miss is hidden behind other work is no stall, but is as long with longer misses: these are waited
// for by so much more than stalls alone say.
double WalkedSamples::hidden_factor() const noexcept {
  constexpr double kMost = 3;  // where nearly all is hidden, the model's little rest is too uncertain
  if (modelled_stall_ns_ <= 0) return 1;
  return std::clamp(modelled_longer_ns_ / modelled_stall_ns_, 1.0, kMost);
}

void WalkedSamples::charge(double time_ns, const Verdict& verdict, EpochCounts& counts) noexcept {
  const double memory_ns = time_ns * verdict.share;
  counts.memory_stall_ns += memory_ns;
  if (verdict.miss_ns > 0) misses_ += memory_ns / verdict.miss_ns;
  counts.share_error_ns += time_ns * std::sqrt(verdict.variance);
}

EpochCounts WalkedSamples::take(VerdictSource& verdicts, WalkedPool& pool, bool settle) noexcept {
  constexpr double kLongestKeptNs = 200e6;
  EpochCounts counts;
  counts.held_ns = by_kind_ns_;
  counts.samples = samples_;
  counts.stall_samples = stall_samples_;
  misses_ = 0;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < distinct_; ++i) {
    const Verdict verdict = verdicts.verdict_of(*held_[i].entry);
    if (verdict.is_known()) {
      const Verdict settled =
          verdict.miss_ns > 0 ? verdict : Verdict{.share = 0, .variance = verdict.variance};
      charge(held_[i].time_ns, settled, counts);
      pool.add(held_[i].time_ns, settled);
    } else if (!settle && held_[i].time_ns < kLongestKeptNs) {
      held_[kept++] = held_[i];
    } else if (waits_for_reads(held_[i].entry->instruction.kind)) {
      charge(held_[i].time_ns, pool.mean(base_ns_), counts);
    }
  }
  distinct_ = kept;
  const Verdict mean = pool.mean(base_ns_);
  charge(others_ns_, mean, counts);

  // Each of n samples is a memory stall or not: binomial, with the mean time that a sample stands for.
  const double time_ns = std::accumulate(by_kind_ns_.begin(), by_kind_ns_.end(), 0.0);
  if (time_ns > 0) {
    const double share = std::min(1.0, counts.memory_stall_ns / time_ns);
    counts.sampling_variance_ns2 = time_ns * time_ns / static_cast<double>(samples_) * share * (1 - share);
  }
  // Neither the walk's own time nor the emulated memory's had to be waited for natively, but the misses.
  const double walked_ns = walked_misses_ * mean.miss_ns;
  counts.memory_stall_ns += walked_ns;
  counts.overhead_ns -= walked_ns;
  misses_ = misses_ * hidden_factor() + walked_misses_;

  counts.miss_latency_ns = misses_ > 0 ? counts.memory_stall_ns / misses_ : mean.miss_ns;
  others_ns_ = walked_misses_ = 0;
  by_kind_ns_ = {};
  samples_ = stall_samples_ = 0;
  return counts;
}

}  // namespace nvmemu
