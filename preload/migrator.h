// SPDX-License-Identifier: Apache-2.0
// Moves this process's memory between tiers by the policy of the run, and charges what that takes. Nothing of
// the program's memory moves: what changes is which memory it is emulated as. Async-signal-safe but for
// open().
#pragma once

#include <atomic>
#include <cstdint>

#include "plan/config.h"
#include "tier/migrations.h"
#include "tier/tier_tally.h"

namespace nvmemu {
class ThreadEmulator;
}

namespace nvmemu::preload {

class Migrator {
 public:
  // `heat`: what samples see; null: nothing moves. All that is given outlives it.
  void open(const Config& config, RegionHeat* heat);
  bool is_open() const noexcept { return migrations_ != nullptr; }

  // By a thread at the end of an epoch, with the time of day that it is: where a window is over, what the
  // policy has move does, and the thread owes it. One thread at a time: for another nothing is to do.
  void end_window(ThreadEmulator& emulator, TierMap& map, TierTally& tally, std::uint64_t now_ns) noexcept;

  // In the child of a fork.
  void forget() noexcept;

 private:
  void charge(const Migrated& migrated, ThreadEmulator& emulator, TierTally& tally) const noexcept;

  const MigrationPolicy* policy_ = nullptr;
  TierId slow_ = 0;
  MigrationRoom room_{};
  std::uint64_t window_ns_ = 0;
  double promote_ns_per_byte_ = 0, demote_ns_per_byte_ = 0;
  RegionHeat* heat_ = nullptr;
  Migrations* migrations_ = nullptr;
  std::atomic<bool> is_moving_{false};
  std::atomic<std::uint64_t> next_ns_{0};  // when the window is over; 0: none has begun
};

}  // namespace nvmemu::preload
