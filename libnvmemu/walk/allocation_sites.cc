// SPDX-License-Identifier: Apache-2.0
#include "walk/allocation_sites.h"

#include <algorithm>
#include <bit>

#include "base/fibonacci_hash.h"
#include "base/relaxed.h"

namespace nvmemu {
namespace {

constexpr std::uintptr_t kBeingFilled = 1;

std::size_t spread(std::uintptr_t value) noexcept {
  return static_cast<std::size_t>(fibonacci_hash(value) >> 32);
}

void lower(std::atomic<std::uint64_t>& least, std::uint64_t value) noexcept {
  std::uint64_t now = least.load(kRelaxed);
  while ((now == 0 || value < now) && !least.compare_exchange_weak(now, value, kRelaxed)) {
  }
}

template <typename Number>
void raise(std::atomic<Number>& most, Number value) noexcept {
  Number now = most.load(kRelaxed);
  while (value > now && !most.compare_exchange_weak(now, value, kRelaxed)) {
  }
}

// The power of two that holds so many bytes, and half of which does not.
unsigned size_class_of(std::size_t bytes) noexcept {
  constexpr unsigned kLargest = 63;
  return bytes <= 1 ? 0 : std::min(kLargest, static_cast<unsigned>(std::bit_width(bytes - 1)));
}

// Where blocks of a size class are searched from that begin at the address, or less than its power of two
// away, behind the same multiple of it.
std::size_t home_of(std::uintptr_t address, unsigned size_class) noexcept {
  constexpr unsigned kSizeClasses = 64;
  return spread((address >> size_class) * kSizeClasses + size_class) % AllocationSites::kMostBlocks;
}

}  // namespace

AllocationSites::Site* AllocationSites::find_site(std::uintptr_t code) noexcept {
  for (std::size_t i = 0; i < kReach; ++i) {
    Site& site = sites_[(spread(code) + i) % kMostSites];
    const std::uintptr_t there = site.code.load(kRelaxed);
    if (there == code) return site.is_named.load(std::memory_order_acquire) ? &site : nullptr;
    if (there == 0) return nullptr;
  }
  return nullptr;
}

AllocationSites::Site* AllocationSites::add_site(std::uintptr_t code, std::string_view name) noexcept {
  for (std::size_t i = 0; i < kReach; ++i) {
    Site& site = sites_[(spread(code) + i) % kMostSites];
    std::uintptr_t free = 0;
    if (site.code.compare_exchange_strong(free, code, kRelaxed)) {
      const std::string_view cut = name.substr(0, sizeof site.name - 1);
      *std::copy(cut.begin(), cut.end(), site.name) = '\0';
      site.is_named.store(true, std::memory_order_release);
      return &site;
    }
    if (free == code) return site.is_named.load(std::memory_order_acquire) ? &site : nullptr;
  }
  return nullptr;
}

bool AllocationSites::take(std::uintptr_t block, std::size_t bytes, Site& site) noexcept {
  const unsigned size_class = size_class_of(bytes);
  const std::size_t home = home_of(block, size_class);
  for (std::size_t i = 0; i < kReach; ++i) {
    Block& entry = blocks_[(home + i) % kMostBlocks];
    std::uintptr_t free = 0;
    if (!entry.begin.compare_exchange_strong(free, kBeingFilled, kRelaxed)) continue;
    entry.end.store(block + bytes, kRelaxed);
    entry.site.store(static_cast<std::uint32_t>(&site - sites_.data()), kRelaxed);
    entry.begin.store(block, std::memory_order_release);
    raise(reached_[home], static_cast<std::uint8_t>(i + 1));
    size_classes_.fetch_or(std::uint64_t{1} << size_class, kRelaxed);
    lower(site.lowest, block);
    raise(site.most_bytes, site.bytes.fetch_add(bytes, kRelaxed) + bytes);
    return true;
  }
  return false;
}

template <typename Test>
std::size_t AllocationSites::search(std::size_t home, const Test& is_it) const noexcept {
  const std::size_t reached = reached_[home].load(kRelaxed);
  for (std::size_t i = 0; i < reached; ++i) {
    const std::size_t at = (home + i) % kMostBlocks;
    if (is_it(blocks_[at])) return at;
  }
  return kMostBlocks;
}

// In every size class that a block was of, until `search_in` has found it; kMostBlocks: in none.
template <typename Search>
std::size_t AllocationSites::search_classes(const Search& search_in) const noexcept {
  std::size_t found = kMostBlocks;
  for (std::uint64_t left = size_classes_.load(kRelaxed); left != 0 && found == kMostBlocks; left &= left - 1)
    found = search_in(static_cast<unsigned>(std::countr_zero(left)));
  return found;
}

std::size_t AllocationSites::find_block(std::uintptr_t block) const noexcept {
  const auto is_it = [&](const Block& entry) { return entry.begin.load(std::memory_order_acquire) == block; };
  return search_classes([&](unsigned size_class) { return search(home_of(block, size_class), is_it); });
}

bool AllocationSites::has(std::uintptr_t block) const noexcept { return find_block(block) != kMostBlocks; }

void AllocationSites::give_back(std::uintptr_t block) noexcept {
  const std::size_t at = find_block(block);
  if (at == kMostBlocks) return;
  Block& entry = blocks_[at];
  sites_[entry.site.load(kRelaxed)].bytes.fetch_sub(entry.end.load(kRelaxed) - block, kRelaxed);
  entry.begin.store(0, std::memory_order_release);
}

// A block begins behind the same multiple of its class's power of two as what is in it, or the one before.
AllocationSites::Site* AllocationSites::find(std::uintptr_t address) noexcept {
  const auto is_it = [&](const Block& entry) {
    const std::uintptr_t begin = entry.begin.load(std::memory_order_acquire);
    return begin > kBeingFilled && begin <= address && address < entry.end.load(kRelaxed);
  };
  const std::size_t at = search_classes([&](unsigned size_class) {
    const std::size_t near = search(home_of(address, size_class), is_it);
    const std::uintptr_t before = address - (std::uintptr_t{1} << size_class);
    return near != kMostBlocks ? near : search(home_of(before, size_class), is_it);
  });
  return at == kMostBlocks ? nullptr : &sites_[blocks_[at].site.load(kRelaxed)];
}

void AllocationSites::forget_places() noexcept {
  for (Site& site : sites_) site.place.store(0, kRelaxed);
}

}  // namespace nvmemu
