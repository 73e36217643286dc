// SPDX-License-Identifier: Apache-2.0
// What a run has waited for, by tier. In memory that its processes share, zeroed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/stall_kinds.h"
#include "tier/tier.h"
#include "tier/tier_readings.h"

namespace nvmemu {

// What has put memory into a tier, where no more is to be known of it than that it has.
enum class RuleKind : std::uint8_t { kOther, kBlocks, kNode };

struct TierTally {
  // Which rules of one kind of a tier's have ever matched, in bits; of so many.
  struct Matched {
    static constexpr std::size_t kTold = 64;
    std::atomic<std::uint64_t> bits;

    void note(std::size_t rule) noexcept {
      if (rule < kTold) note_all(std::uint64_t{1} << rule);
    }
    void note_all(std::uint64_t rules) noexcept { bits.fetch_or(rules, std::memory_order_relaxed); }
    bool has(std::size_t rule) const noexcept {  // true where it is not known
      return rule >= kTold || (bits.load(std::memory_order_relaxed) >> rule & 1) != 0;
    }
  };
  struct Sums {
    ByStallKind<std::atomic<std::uint64_t>> stall_ns;      // what was waited for it here, by what,
    std::atomic<std::uint64_t> delay_ns;                   // and how much longer it is to be
    std::atomic<std::uint64_t> read_bytes, written_bytes;  // where traffic is measured
    std::atomic<std::uint64_t> placed_bytes;  // all that was ever put into it, by a rule or a call
    Matched files, callers;                   // of its rules: of what was mapped, and who has allocated;
    Matched kinds;                            // and of which kinds any has
  };
  ByTier<Sums> tiers;
  TierReadings readings;                                 // that tell which tier was waited for
  std::atomic<std::uint64_t> persists, persisted_lines;  // of all tiers: fences behind flushes,
  std::atomic<std::uint64_t> persist_delay_ns;           // and what they were waited for longer
  // Those that nobody told of, as walks have them; of the delay, theirs; what a model may be wrong by, and
  // the square of the standard error beside that.
  std::atomic<std::uint64_t> estimated_persists, estimated_lines, estimated_delay_ns;
  std::atomic<std::uint64_t> estimated_model_error_ns, estimated_variance_us2;
  std::atomic<std::uint64_t> promotions, demotions;  // of regions between tiers, by a policy,
  std::atomic<std::uint64_t> moved_bytes;            // what these had,
  std::atomic<std::uint64_t> move_delay_ns;          // and how long that was waited for
  std::atomic<std::uint64_t> filled;                 // processes that have gone beyond after=
  std::atomic<std::uint64_t> unplaced;               // ranges that no room was left to note
};

}  // namespace nvmemu
