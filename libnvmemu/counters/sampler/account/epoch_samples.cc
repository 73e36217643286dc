// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/account/epoch_samples.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

namespace nvmemu {
namespace {

// Reading memory is what loads and atomic read-modify-writes wait for; stores retire without waiting.
bool waits_for_reads(StallKind kind) { return kind == StallKind::kLoad || kind == StallKind::kLocked; }

double sum(const auto& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

}  // namespace

double EpochSamples::Running::take(double total) noexcept {
  const double more = std::max(0.0, total - given);
  given += more;
  return more;
}

EpochSamples::Held& EpochSamples::slot_for(const LoadEntry* entry) noexcept {
  for (std::size_t i = 0; i < distinct_; ++i) {
    if (held_[i].entry == entry) return held_[i];
  }
  if (distinct_ == kDistinct) return others_;
  held_[distinct_] = Held{entry, {}};
  return held_[distinct_++];
}

void EpochSamples::add(const LoadEntry* entry, double time_ns, std::size_t gap_bin) noexcept {
  const StallKind kind = entry == nullptr ? StallKind::kOther : entry->instruction.kind;
  by_kind_ns_[static_cast<std::size_t>(kind)] += time_ns;
  ++samples_;
  if (!waits_for_reads(kind)) return;
  ++stall_samples_;
  slot_for(entry).time_ns[gap_bin] += time_ns;
}

double EpochSamples::drift(const MissReading& miss) const noexcept {
  // Neighbours have doubled a latency within minutes. What is further off is something else.
  constexpr double kLeast = 0.7;
  constexpr double kMost = 2;
  return miss.is_base && base_ns_ > 0 ? std::clamp(miss.ns / base_ns_, kLeast, kMost) : 1;
}

void EpochSamples::charge(Held& held, const Share& share, const MissReading& miss, const Overlap& overlap,
                          EpochCounts& counts) noexcept {
  for (std::size_t bin = 0; bin < GapWeights::kBins; ++bin)
    memory_ns_[bin] += held.time_ns[bin] * share.value;
  const double misses = sum(held.time_ns) * share.value / (miss.ns * overlap.reading);
  const double drifted = misses * drift(miss);
  misses_ += misses;
  drifted_misses_ += drifted;
  slowed_misses_ += drifted * overlap.latency;
  counts.share_error_ns += sum(held.time_ns) * std::sqrt(share.variance);
  held = Held{};
}

// Whether probes have yet to tell what that load waits for, and may still.
bool EpochSamples::may_wait(const Held& held) noexcept {
  constexpr double kLongestNs = 200e6;
  return held.entry->instruction.probeable && !held.entry->share_is_known() && sum(held.time_ns) < kLongestNs;
}

// Whether a load that does not wait for that one waits for memory too, for an eighth of its time at least.
bool EpochSamples::overlaps(const Held& held, const SharePool& pool) const noexcept {
  constexpr double kLeast = 0.125;
  const IndependentLoads& beside = held.entry->beside;
  const std::span independent(beside.addresses.data(), beside.count);
  return std::any_of(held_.begin(), held_.begin() + distinct_, [&](const Held& other) {
    return std::find(independent.begin(), independent.end(), other.entry->address) != independent.end() &&
           sum(other.time_ns) * memory_share(other.entry->sums(), pool).value >= kLeast * sum(held.time_ns);
  });
}

EpochCounts EpochSamples::take(const SharePool& pool, const GapWeights& gaps, bool every_load,
                               bool settle) noexcept {
  EpochCounts counts;
  counts.held_ns = by_kind_ns_;
  counts.samples = samples_;
  counts.stall_samples = stall_samples_;
  const ByBin before_ns = memory_ns_;
  const double mean_ns = gaps.steady_ns();
  const auto share_of = [&](const ProbeSums& sums) {
    return every_load ? Share{1, 0} : memory_share(sums, pool);
  };
  std::array<bool, kDistinct> overlapping{};
  for (std::size_t i = 0; i < distinct_; ++i) overlapping[i] = overlaps(held_[i], pool);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < distinct_; ++i) {
    if (!settle && !every_load && may_wait(held_[i])) {
      held_[kept++] = held_[i];
      continue;
    }
    const LoadEntry& load = *held_[i].entry;
    charge(held_[i], share_of(load.sums()), load.miss(mean_ns), overlapping[i] ? overlap_ : Overlap{},
           counts);
  }
  distinct_ = kept;
  charge(others_, share_of({}), {mean_ns}, Overlap{}, counts);

  double stall_ns = 0;
  double excess_ns = 0;
  for (std::size_t bin = 0; bin < GapWeights::kBins; ++bin) {
    const double weight = gaps.weight(bin);
    stall_ns += memory_ns_[bin] * weight;
    excess_ns += memory_ns_[bin] * (1 - weight);
    const double fresh_ns = memory_ns_[bin] - before_ns[bin];
    counts.fresh_stall_ns += fresh_ns * weight;
    counts.fresh_excess_ns += fresh_ns * (1 - weight);
  }
  counts.memory_stall_ns = stall_.take(stall_ns);
  counts.overhead_ns = excess_.take(excess_ns);

  const double fresh_ns = sum(memory_ns_) - sum(before_ns);
  counts.miss_latency_ns = misses_ > 0 ? fresh_ns / misses_ : mean_ns;
  counts.base_drift = misses_ > 0 ? drifted_misses_ / misses_ : 1;
  counts.overlap_factor = drifted_misses_ > 0 ? slowed_misses_ / drifted_misses_ : 1;

  // Each of n samples is a memory stall or not: binomial, with the mean time that a sample stands for.
  const double time_ns = sum(by_kind_ns_);
  if (time_ns > 0) {
    const double share = fresh_ns / time_ns;
    counts.sampling_variance_ns2 =
        time_ns * time_ns / static_cast<double>(samples_) * share * std::max(0.0, 1 - share);
  }
  misses_ = 0;
  drifted_misses_ = 0;
  slowed_misses_ = 0;
  by_kind_ns_ = {};
  samples_ = 0;
  stall_samples_ = 0;
  return counts;
}

}  // namespace nvmemu
