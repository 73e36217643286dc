// SPDX-License-Identifier: Apache-2.0
// One thread's samples, before they become counts: what walks say of the loads that they are behind. Pure
// bookkeeping; async-signal-safe.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "counters/counts.h"
#include "counters/sampler/learned/load_table.h"
#include "walk/load_record.h"
#include "walk/loaded_latency.h"
#include "walk/rules.h"
#include "walk/walk_overlap.h"

namespace nvmemu {

// What all that walks have told of comes to, weighted by time: for loads that none has passed. Shared by the
// threads of a process, and by its children.
class WalkedPool {
 public:
  void add(double time_ns, const Verdict& verdict) noexcept;
  Verdict mean(double base_ns) const noexcept;

 private:
  std::atomic<double> time_ns_{0}, memory_ns_{0}, misses_{0};
  ByTier<std::atomic<double>> tier_misses_{};  // of the misses
};

// Where verdicts come from.
class VerdictSource {
 public:
  virtual Verdict verdict_of(const LoadEntry& load) noexcept = 0;

 protected:
  ~VerdictSource() = default;
};

// Where nothing is walked: all that reads waits for memory, `miss_ns` each time.
class EveryLoad final : public VerdictSource {
 public:
  explicit EveryLoad(double miss_ns) : miss_ns_(miss_ns) {}
  Verdict verdict_of(const LoadEntry& load) noexcept override;

 private:
  double miss_ns_;
};

struct TierDelays {
  bool differ = false;      // not all tiers' misses are to take as much longer
  ByTier<bool> are_none{};  // those that are not to, at all
};

class WalkedSamples {
 public:
  // `base_ns`: what a miss takes until walks have seen one.
  explicit WalkedSamples(double base_ns, Rules rules = {}, const TierDelays& delays = {},
                         LoadedLatency loaded = {})
      : base_ns_(base_ns), rules_(rules), delays_(delays), loaded_(loaded) {}

  // A sample that stands for `time_ns`, held up by `entry`'s instruction (null: by nothing known).
  void add(const LoadEntry* entry, double time_ns) noexcept;

  // A walk has brought lines in from memory that the program will now find in its caches: so many that wait
  // for each other. It waits for none of that, but on the emulated memory it would have.
  void add_misses_in_a_row(const ByTier<double>& misses) noexcept;
  // Likewise where samples come at intervals that were begun by chance: what comes behind a walk without a
  // sample is in the one before it, as long as it would have been. So they count with the next sample, if one
  // comes.
  void add_misses_with_next(const ByTier<double>& misses) noexcept;
  void add_overlap(const WalkOverlap& walk) noexcept;

  // Starts the next epoch. What is behind a load that no walk has passed is kept back for a while (until it
  // is much, or long ago, or there are many such loads), unless the epoch is to be settled, and then gets the
  // mean, which `unwalked_ns` tells; behind such a store, nothing.
  // `displaced_ns`: how much longer a thread that waits for memory does so because of a sample, beyond what
  // taking it costs: for what that has pushed out of the caches. Measuring's, as `overhead_ns`.
  EpochCounts take(VerdictSource& verdicts, WalkedPool& pool, bool settle, double displaced_ns = 0) noexcept;
  // Of the epoch that was taken last: what is to take longer, with what has been kept back of it, by the
  // mean.
  double likely_stall_ns() const noexcept { return likely_stall_ns_; }

 private:
  struct Held {
    const LoadEntry* entry = nullptr;
    double time_ns = 0;
    std::uint32_t samples = 0, epochs = 0;
  };
  static constexpr std::size_t kDistinct = 256;  // loads told apart in an epoch; the others get the mean
  static constexpr std::size_t kMostKept = kDistinct / 2;  // so that there is room for those of the next

  double hidden_factor() const noexcept;
  double loaded_factor() const noexcept;
  void share_among_tiers() noexcept;
  void charge(StallKind kind, double time_ns, double samples, const Verdict& verdict,
              EpochCounts& counts) noexcept;
  void take_off_displaced(double displaced_ns, EpochCounts& counts) noexcept;
  void tell_by_tier(EpochCounts& counts) const noexcept;
  void charge_held(VerdictSource& verdicts, WalkedPool& pool, bool settle, EpochCounts& counts) noexcept;
  void charge_mean(const Held& held, const Verdict& verdict, const Verdict& mean,
                   EpochCounts& counts) noexcept;
  double kept_back_ns() const noexcept;
  double sampling_variance(double stall_ns) noexcept;
  double delayed_share() const noexcept;

  double base_ns_;
  Rules rules_;
  std::array<Held, kDistinct> held_{};
  std::size_t distinct_ = 0;
  double others_ns_ = 0, others_samples_ = 0;
  double kept_before_ns_ = 0, likely_stall_ns_ = 0;
  double share_variance_ns2_ = 0;  // of an epoch
  double memory_samples_ = 0;      // that waits for memory have had, of an epoch
  // Of this epoch and those before it of which something was kept back.
  double open_time_ns_ = 0, open_samples_ = 0, open_stall_ns_ = 0, open_variance_ns2_ = 0;
  TierDelays delays_;
  LoadedLatency loaded_;
  ByStallKind<ByTier<double>> misses_{};  // of an epoch
  ByTier<double> walked_misses_{}, next_walked_misses_{};
  WalkOverlap overlap_;  // of the last walks
  ByStallKind<double> by_kind_ns_{};
  std::uint64_t samples_ = 0;
  std::uint64_t stall_samples_ = 0;
};

}  // namespace nvmemu
