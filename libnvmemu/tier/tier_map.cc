// SPDX-License-Identifier: Apache-2.0
#include "tier/tier_map.h"

#include <algorithm>

#include "base/mapped.h"
#include "base/relaxed.h"

namespace nvmemu {

TierMap* TierMap::create(const TierPattern& otherwise) noexcept {
  auto* const map = map_zeroed<TierMap>();
  if (map != nullptr) map->begin(otherwise);
  return map;
}

void TierMap::destroy(TierMap* map) noexcept { unmap(map); }

void TierMap::begin(const TierPattern& otherwise) noexcept {
  set_otherwise(class_of(otherwise).value_or(0));  // the first always has room
}

// Blocks before tables, so that each that is named has been given out by then.
void TierMap::copy_all(const TierMap& other) noexcept {
  otherwise_.store(other.otherwise_.load(kRelaxed), kRelaxed);
  patterns_.copy(other.patterns_);
  for (std::size_t group = 0; group < kGroups; ++group) {
    if (!other.used_groups_[group].load(std::memory_order_acquire)) continue;
    used_groups_[group].store(true, kRelaxed);
    for (std::size_t block = group * kGroup; block < (group + 1) * kGroup; ++block)
      blocks_[block].store(other.blocks_[block].load(std::memory_order_acquire), kRelaxed);
  }
  const std::size_t tables = std::min<std::size_t>(other.tables_used_.load(kRelaxed), kMostTables);
  tables_used_.store(static_cast<std::uint32_t>(tables), kRelaxed);
  for (std::size_t table = 0; table < tables; ++table) {
    for (std::size_t page = 0; page < kPages; ++page)
      tables_[table][page].store(other.tables_[table][page].load(kRelaxed), kRelaxed);
  }
}

std::optional<TierClass> TierMap::placed_in(std::uintptr_t address) const noexcept {
  const std::size_t block = address >> kBlockBits;
  if (block >= kBlocks) return std::nullopt;
  const Note note = blocks_[block].load(std::memory_order_acquire);
  std::uint8_t value = static_cast<std::uint8_t>(note);
  if ((note & kHasTable) != 0)
    value = tables_[note & ~kHasTable][address >> kPageBits & (kPages - 1)].load(kRelaxed);
  return value == 0 ? std::nullopt : std::optional(static_cast<TierClass>(value - 1));
}

ByTier<double> TierMap::shares_of(std::uintptr_t begin, std::uintptr_t end) const noexcept {
  ByTier<double> shares{};
  const std::uintptr_t middle = begin + (end - begin) / 2;
  const TierClass tiers = class_at(middle);
  const TierPattern* const pattern = tiers < kMostTiers ? nullptr : &patterns_[tiers - kMostTiers];
  if (pattern == nullptr || end - begin < pattern->pages_in_turn() * pattern->page_bytes) {
    shares[tier_of(middle)] = 1;
    return shares;
  }
  for (std::size_t i = 0; i < pattern->count; ++i)
    shares[pattern->parts[i].tier] += static_cast<double>(pattern->parts[i].pages) / pattern->pages_in_turn();
  return shares;
}

std::optional<TierClass> TierMap::class_of(const TierPattern& pattern) noexcept {
  if (!pattern.is_interleaved() && pattern.origin == 0) return pattern.parts[0].tier;
  const std::optional<std::size_t> number = patterns_.number_of(pattern);
  return number ? std::optional(static_cast<TierClass>(kMostTiers + *number)) : std::nullopt;
}

bool TierMap::place(std::uintptr_t address, std::size_t bytes, TierClass tiers) noexcept {
  return note(address, bytes, static_cast<std::uint8_t>(tiers + 1), Of{});
}

bool TierMap::place_rest(std::uintptr_t address, std::size_t bytes, TierClass tiers) noexcept {
  return note(address, bytes, static_cast<std::uint8_t>(tiers + 1), Of{.which = Of::kRest});
}

bool TierMap::move(std::uintptr_t address, std::size_t bytes, TierId from, TierId to) noexcept {
  const Of of{.which = Of::kSame,
              .same = static_cast<std::uint8_t>(from + 1),
              .with_rest = otherwise_.load(kRelaxed) == from};
  return note(address, bytes, static_cast<std::uint8_t>(to + 1), of);
}

void TierMap::remove(std::uintptr_t address, std::size_t bytes) noexcept { note(address, bytes, 0, Of{}); }

void TierMap::copy(std::uintptr_t from, std::uintptr_t to, std::size_t bytes) noexcept {
  const auto placed_at = [this](std::uintptr_t address) { return placed_in(address); };
  for_each_alike(from, from + bytes, placed_at,
                 [&](std::uintptr_t begin, std::uintptr_t end, std::optional<TierClass> placed) {
                   note(begin - from + to, end - begin, static_cast<std::uint8_t>(placed ? *placed + 1 : 0),
                        Of{});
                 });
}

bool TierMap::note(std::uintptr_t address, std::size_t bytes, std::uint8_t value, const Of& of) noexcept {
  constexpr std::uintptr_t kEnd = std::uintptr_t{1} << kAddressBits;
  if (bytes == 0 || address >= kEnd) return true;
  const std::size_t end =
      (std::min(kEnd - 1, address + std::min(bytes, kEnd - address) - 1) >> kPageBits) + 1;
  bool noted = true;
  for (std::size_t page = address >> kPageBits; page < end;) {
    const std::size_t block = page / kPages;
    const std::size_t block_end = std::min(end, (block + 1) * kPages);
    noted &= note_part(block, page - block * kPages, block_end - block * kPages, value, of);
    page = block_end;
  }
  return noted;
}

bool TierMap::note_part(std::size_t block, std::size_t first, std::size_t end, std::uint8_t value,
                        const Of& of) noexcept {
  Note note = blocks_[block].load(std::memory_order_acquire);
  if ((note & kHasTable) == 0) {
    if (note == value || !of.has(static_cast<std::uint8_t>(note))) return true;
    mark_used(block);
    const bool is_whole = first == 0 && end == kPages;
    if (is_whole && blocks_[block].compare_exchange_strong(note, value, std::memory_order_acq_rel))
      return true;
    if (!give_table(block)) return false;
    note = blocks_[block].load(std::memory_order_acquire);
  }
  auto& pages = tables_[note & ~kHasTable];
  for (std::size_t page = first; page < end; ++page) {
    std::uint8_t noted = pages[page].load(kRelaxed);
    if (of.which == Of::kAll) {
      pages[page].store(value, kRelaxed);
    } else if (of.has(noted)) {
      pages[page].compare_exchange_strong(noted, value, kRelaxed);
    }
  }
  return true;
}

void TierMap::mark_used(std::size_t block) noexcept {
  std::atomic<bool>& is_used = used_groups_[block / kGroup];
  if (!is_used.load(kRelaxed)) is_used.store(true, std::memory_order_release);
}

// A block keeps its table for good: a reader may be about to look into it.
bool TierMap::give_table(std::size_t block) noexcept {
  Note note = blocks_[block].load(std::memory_order_acquire);
  if ((note & kHasTable) != 0) return true;
  const std::uint32_t table = tables_used_.fetch_add(1, kRelaxed);
  if (table >= kMostTables) {
    tables_used_.fetch_sub(1, kRelaxed);
    return false;
  }
  while ((note & kHasTable) == 0) {
    for (auto& page : tables_[table]) page.store(static_cast<std::uint8_t>(note), kRelaxed);
    const Note with_table = static_cast<Note>(kHasTable | table);
    if (blocks_[block].compare_exchange_strong(note, with_table, std::memory_order_acq_rel)) return true;
  }
  return true;  // another was quicker: this one is never used, which is rare
}

}  // namespace nvmemu
