// SPDX-License-Identifier: Apache-2.0
#include "tier/region_heat.h"

#include <algorithm>

#include "base/fibonacci_hash.h"
#include "base/mapped.h"
#include "base/relaxed.h"

namespace nvmemu {
namespace {

constexpr std::size_t kMostTried = 256;

std::size_t place_of(std::uint64_t key) noexcept { return fibonacci_hash(key) >> 40; }

}  // namespace

void RegionHeat::add(std::span<const std::uintptr_t> misses, std::uint32_t weight) noexcept {
  if (misses.empty()) return;
  changes_.fetch_add(1, kRelaxed);
  const std::size_t part = samples_.fetch_add(1, kRelaxed) % kParts;
  const std::uint64_t each = weight / misses.size();
  for (const std::uintptr_t address : misses) {
    Region* const region = find(address);
    if (region == nullptr) {
      elsewhere_.fetch_add(each, kRelaxed);
      continue;
    }
    region->waited[part].fetch_add(each, kRelaxed);
    region->misses.fetch_add(1, kRelaxed);
  }
}

std::uint64_t RegionHeat::resident_bytes_of(std::uintptr_t address) const noexcept {
  const std::uint64_t key = (address >> kRegionBits) + 1;
  for (std::size_t tried = 0; tried < kMostTried; ++tried) {
    const std::uint32_t index = places_[(place_of(key) + tried) % kPlaces].load(std::memory_order_acquire);
    if (index == 0) return 0;
    if (regions_[index - 1].key.load(std::memory_order_acquire) == key)
      return regions_[index - 1].resident_bytes.load(kRelaxed);
  }
  return 0;
}

void RegionHeat::note_resident(std::uintptr_t address, std::uint64_t bytes) noexcept {
  Region* const region = find(address);
  if (region == nullptr || region->resident_bytes.load(kRelaxed) >= bytes) return;
  region->resident_bytes.store(bytes, kRelaxed);
  changes_.fetch_add(1, kRelaxed);
}

std::size_t RegionHeat::count() const noexcept {
  return std::min(taken_.load(std::memory_order_acquire), kMost);
}

// The region of that address, which is made where there is none; null where there is no room.
RegionHeat::Region* RegionHeat::find(std::uintptr_t address) noexcept {
  const std::uint64_t key = (address >> kRegionBits) + 1;
  for (std::size_t tried = 0; tried < kMostTried; ++tried) {
    std::atomic<std::uint32_t>& place = places_[(place_of(key) + tried) % kPlaces];
    std::uint32_t index = place.load(std::memory_order_acquire);
    if (index == 0) {
      Region* const made = make(address);
      if (made == nullptr) return nullptr;
      const auto own = static_cast<std::uint32_t>(made - regions_.data() + 1);
      if (place.compare_exchange_strong(index, own, std::memory_order_acq_rel)) return made;
      made->key.store(0, std::memory_order_release);  // another was quicker: this one is never used
    }
    Region& found = regions_[index - 1];
    if (found.key.load(std::memory_order_acquire) == key) return &found;
  }
  return nullptr;
}

RegionHeat::Region* RegionHeat::make(std::uintptr_t address) noexcept {
  if (taken_.load(kRelaxed) >= kMost) return nullptr;
  const std::size_t index = taken_.fetch_add(1, std::memory_order_acq_rel);
  if (index >= kMost) return nullptr;
  regions_[index].noted_at.store(address, kRelaxed);
  regions_[index].key.store((address >> kRegionBits) + 1, std::memory_order_release);
  return &regions_[index];
}

void RegionHeat::forget() noexcept { zero_mapped(this); }

}  // namespace nvmemu
