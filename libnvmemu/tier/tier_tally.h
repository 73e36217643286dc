// SPDX-License-Identifier: Apache-2.0
// What a run has waited for, by tier. In memory that its processes share, zeroed.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/stall_kinds.h"
#include "tier/tier.h"
#include "tier/tier_readings.h"

namespace nvmemu {

struct TierTally {
  struct Sums {
    ByStallKind<std::atomic<std::uint64_t>> stall_ns;      // what was waited for it here, by what,
    std::atomic<std::uint64_t> delay_ns;                   // and how much longer it is to be
    std::atomic<std::uint64_t> read_bytes, written_bytes;  // where traffic is measured
    std::atomic<std::uint64_t> placed_bytes;  // all that was ever put into it, by a rule or a call
    static constexpr std::size_t kToldFiles = 64;
    std::atomic<std::uint64_t> mapped_files;  // which of its rules' files were, in bits: of so many

    void note_mapped(std::size_t file) noexcept {
      if (file < kToldFiles) mapped_files.fetch_or(std::uint64_t{1} << file, std::memory_order_relaxed);
    }
    bool has_mapped(std::size_t file) const noexcept {  // true where it is not known
      return file >= kToldFiles || (mapped_files.load(std::memory_order_relaxed) >> file & 1) != 0;
    }
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
