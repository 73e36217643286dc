// SPDX-License-Identifier: Apache-2.0
// One thread's samples, before they become counts. Pure bookkeeping; async-signal-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "counters/counts.h"
#include "counters/sampler/learned/gap_weights.h"
#include "counters/sampler/learned/load_table.h"
#include "counters/sampler/learned/memory_share.h"

namespace nvmemu {

// By what a miss takes longer while others are under way; 1: no longer.
struct Overlap {
  double reading = 1;  // than what probes say of it
  double latency = 1;  // than a load alone
};

class EpochSamples {
 public:
  // `base_ns`: what probes read of a load that takes the base latency; 0: how that drifts is not followed.
  explicit EpochSamples(const Overlap& overlap = {}, double base_ns = 0)
      : overlap_(overlap), base_ns_(base_ns) {}

  // A sample that stands for `time_ns`, held up by `entry`'s instruction (null: by nothing known), so long
  // after a gap that it falls in `gap_bin` of GapWeights.
  void add(const LoadEntry* entry, double time_ns, std::size_t gap_bin) noexcept;

  // Kinds, samples, memory stall and its error, and the latency of the misses that it is made of, as probes
  // read it; what the gap weights take off is added to the overhead. With
  // `every_load` (probes are refused) each load's whole time is memory's. Starts the next epoch.
  //
  // The weights are learnt as the program runs. They are applied to the thread's whole past each time, so
  // that what its first epochs were charged too much comes off later ones.
  //
  // What a load has held up that probes have not told of yet is kept back, for a while, until they have: how
  // other loads fare says little about it. With `settle` nothing is.
  EpochCounts take(const SharePool& pool, const GapWeights& gaps, bool every_load, bool settle) noexcept;

 private:
  using ByBin = std::array<double, GapWeights::kBins>;
  struct Held {
    const LoadEntry* entry = nullptr;
    ByBin time_ns{};
  };
  // What grows over the thread's life, and how much of it has been handed out.
  struct Running {
    double given = 0;
    double take(double total) noexcept;
  };
  static constexpr std::size_t kDistinct =
      48;  // loads told apart in an epoch; the others get the pool's share

  Held& slot_for(const LoadEntry* entry) noexcept;
  static bool may_wait(const Held& held) noexcept;
  bool overlaps(const Held& held, const SharePool& pool) const noexcept;
  double drift(const MissReading& miss) const noexcept;
  // What was held up by one load, of which `share` is memory's, and what its misses read. Forgets it.
  void charge(Held& held, const Share& share, const MissReading& miss, const Overlap& overlap,
              EpochCounts& counts) noexcept;

  Overlap overlap_;
  double base_ns_;
  std::array<Held, kDistinct> held_{};
  std::size_t distinct_ = 0;
  Held others_{};
  std::array<double, kStallKinds> by_kind_ns_{};
  std::uint64_t samples_ = 0;
  std::uint64_t stall_samples_ = 0;
  ByBin memory_ns_{};          // over the thread's life, before weights
  double misses_ = 0;          // in a row, in this epoch, before weights
  double drifted_misses_ = 0;  // the same, each by what a load alone takes longer than the base,
  double slowed_misses_ = 0;   // and by what it takes longer than that
  Running stall_;
  Running excess_;
};

}  // namespace nvmemu
