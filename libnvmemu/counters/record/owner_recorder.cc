// SPDX-License-Identifier: Apache-2.0
#include "counters/record/owner_recorder.h"

#include <algorithm>
#include <bit>

#include "base/mapped.h"
#include "base/relaxed.h"

namespace nvmemu {

bool OwnerRecorder::open(RecordWriter& record, const TierMap* tiers, const Nodes& nodes_of_tiers) noexcept {
  record_ = &record;
  tiers_ = tiers;
  nodes_ = nodes_of_tiers;
  state_ = map_zeroed<State>();
  return is_open();
}

void OwnerRecorder::begin(std::uint32_t process) noexcept {
  process_ = process;
  if (state_ == nullptr) return;
  for (auto& of_owner : state_->slots) {
    for (auto& slot : of_owner) slot.store(nullptr, kRelaxed);
  }
}

std::size_t OwnerRecorder::site_of(std::uint64_t calls, std::size_t bytes) noexcept {
  const std::uint64_t key = (calls ^ static_cast<std::uint64_t>(std::bit_width(bytes)) << 58) | 1;
  AllocationSites::Site* site = state_->sites.find_site(key);
  if (site == nullptr) site = state_->sites.add_site(key, {});
  return site == nullptr ? kNobody : state_->sites.number_of(*site);
}

void OwnerRecorder::keep(const Block& block, std::size_t site) noexcept {
  if (site == kNobody || !state_->sites.take(block.begin, block.bytes, state_->sites.site(site)))
    return record_->add_unowned();
  Figures& figures = state_->figures[site];
  const std::uint64_t bytes = block.asked_bytes;
  const std::uint64_t least = figures.least_bytes.load(kRelaxed);
  if (least == 0 || bytes < least) figures.least_bytes.store(bytes, kRelaxed);
  if (bytes > figures.most_bytes.load(kRelaxed)) figures.most_bytes.store(bytes, kRelaxed);
}

// One whose calls are still being told is nobody's yet.
std::size_t OwnerRecorder::owner_of(std::uintptr_t address) noexcept {
  const AllocationSites::Site* const site = state_->sites.find(address);
  if (site == nullptr) return kNobody;
  const std::size_t number = state_->sites.number_of(*site);
  return state_->figures[number].calls.load(std::memory_order_acquire) == 0 ? kNobody : number;
}

// Its entry, made where there is none; of two threads that make it at once, one's stays empty.
record_format::OwnerSlot* OwnerRecorder::slot_of(std::size_t owner, TierId tier) noexcept {
  auto& kept = state_->slots[owner][tier];
  record_format::OwnerSlot* slot = kept.load(std::memory_order_acquire);
  if (slot == nullptr) {
    const std::uint32_t calls = owner == kNobody ? 0 : state_->figures[owner].calls.load(kRelaxed);
    record_format::OwnerSlot* const made = record_->add_owner(process_, calls, nodes_[tier]);
    if (made == nullptr) return nullptr;
    if (kept.compare_exchange_strong(slot, made, std::memory_order_acq_rel)) slot = made;
  }
  if (owner != kNobody) {
    slot->least_bytes.store(state_->figures[owner].least_bytes.load(kRelaxed), kRelaxed);
    slot->most_bytes.store(state_->figures[owner].most_bytes.load(kRelaxed), kRelaxed);
  }
  return slot;
}

void OwnerRecorder::add(std::span<const std::uintptr_t> misses, std::uint32_t weight) noexcept {
  if (misses.empty()) return;
  const std::size_t part = state_->samples.fetch_add(1, kRelaxed) % RegionHeat::kParts;
  for (const std::uintptr_t address : misses) {
    const TierId tier = tiers_ == nullptr ? TierId{0} : tiers_->tier_of(address);
    record_format::OwnerSlot* const slot = slot_of(owner_of(address), tier);
    if (slot == nullptr) continue;
    slot->waited[part].fetch_add(weight / misses.size(), kRelaxed);
    slot->misses.fetch_add(1, kRelaxed);
  }
}

}  // namespace nvmemu
