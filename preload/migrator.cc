// SPDX-License-Identifier: Apache-2.0
#include "migrator.h"

#include "base/mapped.h"
#include "base/relaxed.h"
#include "epoch/thread_emulator.h"

namespace nvmemu::preload {

void Migrator::open(const Config& config, RegionHeat* heat) {
  slow_ = limited_tier(config.tiers);
  if (heat == nullptr || slow_ == 0) return;
  const TierSpec& tier = config.tiers.tiers[slow_ - 1U];
  const BandwidthTarget& own = config.memory.bandwidth;
  policy_ = find_migration_policy(config.migration.policy);
  room_.fast_bytes = tier.after_bytes;
  room_.most_bytes = static_cast<std::uint64_t>(config.migration.rate_bps * config.migration.window_ns / 1e9);
  window_ns_ = static_cast<std::uint64_t>(config.migration.window_ns);
  promote_ns_per_byte_ = move_ns_per_byte(tier.memory.bandwidth, own);
  demote_ns_per_byte_ = move_ns_per_byte(own, tier.memory.bandwidth);
  heat_ = heat;
  if (policy_ != nullptr) migrations_ = map_zeroed<Migrations>();
}

// The first window begins when there is something to move: what was waited for by then is of none.
void Migrator::end_window(ThreadEmulator& emulator, TierMap& map, TierTally& tally,
                          std::uint64_t now_ns) noexcept {
  if (now_ns < next_ns_.load(kRelaxed) || is_moving_.exchange(true, std::memory_order_acquire)) return;
  const bool is_first = next_ns_.load(kRelaxed) == 0;
  const Migrated migrated = migrations_->end_window(
      *policy_, slow_, is_first ? MigrationRoom{room_.fast_bytes, 0} : room_, *heat_, map);
  next_ns_.store(now_ns + window_ns_, kRelaxed);
  charge(migrated, emulator, tally);
  is_moving_.store(false, std::memory_order_release);
}

void Migrator::charge(const Migrated& migrated, ThreadEmulator& emulator, TierTally& tally) const noexcept {
  const auto promoted = static_cast<double>(migrated.promoted_bytes);
  const auto demoted = static_cast<double>(migrated.demoted_bytes);
  if (promoted + demoted <= 0) return;
  TrafficCounts moved;
  moved.read_bytes = moved.written_bytes = promoted + demoted;
  moved.tiers[slow_] = {.read_bytes = promoted, .written_bytes = demoted};
  const double ns = promoted * promote_ns_per_byte_ + demoted * demote_ns_per_byte_;
  emulator.owe_move(ns, moved);
  tally.promotions.fetch_add(migrated.promotions, kRelaxed);
  tally.demotions.fetch_add(migrated.demotions, kRelaxed);
  tally.moved_bytes.fetch_add(migrated.promoted_bytes + migrated.demoted_bytes, kRelaxed);
  tally.move_delay_ns.fetch_add(whole_ns(ns), kRelaxed);
}

void Migrator::forget() noexcept {
  if (migrations_ == nullptr) return;
  migrations_->forget();
  next_ns_.store(0, kRelaxed);
  is_moving_.store(false, kRelaxed);
}

}  // namespace nvmemu::preload
