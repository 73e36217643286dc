// SPDX-License-Identifier: Apache-2.0
#include "walk/allocation_sites.h"

#include <algorithm>

namespace nvmemu {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr std::uintptr_t kBeingFilled = 1;

std::size_t spread(std::uintptr_t value) noexcept {
  return static_cast<std::size_t>((value * 0x9E3779B97F4A7C15U) >> 32);
}

void lower(std::atomic<std::uint64_t>& least, std::uint64_t value) noexcept {
  std::uint64_t now = least.load(kRelaxed);
  while ((now == 0 || value < now) && !least.compare_exchange_weak(now, value, kRelaxed)) {
  }
}

void raise(std::atomic<std::uint64_t>& most, std::uint64_t value) noexcept {
  std::uint64_t now = most.load(kRelaxed);
  while (value > now && !most.compare_exchange_weak(now, value, kRelaxed)) {
  }
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

void AllocationSites::take(std::uintptr_t block, std::size_t bytes, Site& site) noexcept {
  for (std::size_t i = 0; i < kReach; ++i) {
    Block& entry = blocks_[(spread(block) + i) % kMostBlocks];
    std::uintptr_t free = 0;
    if (!entry.begin.compare_exchange_strong(free, kBeingFilled, kRelaxed)) continue;
    entry.end.store(block + bytes, kRelaxed);
    entry.site.store(static_cast<std::uint32_t>(&site - sites_.data()), kRelaxed);
    entry.begin.store(block, std::memory_order_release);
    lower(site.lowest, block);
    raise(site.most_bytes, site.bytes.fetch_add(bytes, kRelaxed) + bytes);
    return;
  }
}

const AllocationSites::Block* AllocationSites::find_block(std::uintptr_t block) const noexcept {
  for (std::size_t i = 0; i < kReach; ++i) {
    const Block& entry = blocks_[(spread(block) + i) % kMostBlocks];
    if (entry.begin.load(std::memory_order_acquire) == block) return &entry;
  }
  return nullptr;
}

bool AllocationSites::has(std::uintptr_t block) const noexcept { return find_block(block) != nullptr; }

void AllocationSites::give_back(std::uintptr_t block) noexcept {
  auto* const entry = const_cast<Block*>(find_block(block));
  if (entry == nullptr) return;
  sites_[entry->site.load(kRelaxed)].bytes.fetch_sub(entry->end.load(kRelaxed) - block, kRelaxed);
  entry->begin.store(0, std::memory_order_release);
}

AllocationSites::Site* AllocationSites::find(std::uintptr_t address) noexcept {
  for (const Block& block : blocks_) {
    const std::uintptr_t begin = block.begin.load(std::memory_order_acquire);
    if (begin > kBeingFilled && begin <= address && address < block.end.load(kRelaxed))
      return &sites_[block.site.load(kRelaxed)];
  }
  return nullptr;
}

void AllocationSites::forget_places() noexcept {
  for (Site& site : sites_) site.place.store(0, kRelaxed);
}

}  // namespace nvmemu
