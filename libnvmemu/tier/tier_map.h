// SPDX-License-Identifier: Apache-2.0
// Which tier each address of a process is in. Pages are of 4 KiB: a page that a range covers in part is the
// range's.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/interned.h"
#include "tier/tier.h"
#include "tier/tier_pattern.h"

namespace nvmemu {

// What a range is noted as: a tier, or a pattern of several that the map was told of.
using TierClass = std::uint8_t;

// A process's own: a child of fork has a copy. Readers never wait, and writers neither: two that place the
// same page at once leave one or the other there. It holds no addresses of its own, so that processes may
// share it. Async-signal-safe.
class TierMap {
 public:
  // In memory mapped for it, some 130 MiB of addresses of which what is used is touched; null where there is
  // none to be had. `otherwise`: of what nobody has placed.
  static TierMap* create(const TierPattern& otherwise) noexcept;
  static void destroy(TierMap* map) noexcept;
  // For one that lies in zeroed memory of somebody else's.
  void begin(const TierPattern& otherwise) noexcept;
  // All that `other` notes, in time by what is noted: nothing is in this one yet. What is placed there
  // meanwhile may be missing.
  void copy_all(const TierMap& other) noexcept;

  TierId tier_of(std::uintptr_t address) const noexcept {
    const TierClass tiers = class_at(address);
    return tiers < kMostTiers ? tiers : patterns_[tiers - kMostTiers].of(address);
  }
  // Which part of a range (of one mapping) is each tier's: 1 in all. Of what is interleaved finely, by the
  // pattern.
  ByTier<double> shares_of(std::uintptr_t begin, std::uintptr_t end) const noexcept;
  // What asked for it to be where it is; 0 for what nobody has placed.
  std::uint8_t origin_of(std::uintptr_t address) const noexcept {
    const std::optional<TierClass> placed = placed_in(address);
    return !placed || *placed < kMostTiers ? std::uint8_t{0} : patterns_[*placed - kMostTiers].origin;
  }
  // Nothing where nobody has placed it.
  std::optional<TierClass> placed_in(std::uintptr_t address) const noexcept;

  // What a class stands for.
  TierPattern pattern_of(TierClass tiers) const noexcept {
    return tiers < kMostTiers ? TierPattern::all_of(tiers) : patterns_[tiers - kMostTiers];
  }
  // `use(begin, end, tiers)` for each stretch of a range that is of the same class, in order.
  template <typename Use>
  void for_each_stretch(std::uintptr_t begin, std::uintptr_t end, const Use& use) const noexcept {
    for_each_alike(
        begin, end, [this](std::uintptr_t address) { return class_at(address); }, use);
  }

  // The class of such memory; nothing where there are too many patterns already.
  std::optional<TierClass> class_of(const TierPattern& pattern) noexcept;

  // From now on these bytes are of `tiers`. False where there is no room to note it.
  bool place(std::uintptr_t address, std::size_t bytes, TierClass tiers) noexcept;
  // Likewise those that nobody has placed yet.
  bool place_rest(std::uintptr_t address, std::size_t bytes, TierClass tiers) noexcept;
  // Likewise those that are of the tier `from`, whoever has placed them or nobody.
  bool move(std::uintptr_t address, std::size_t bytes, TierId from, TierId to) noexcept;
  // What is noted of `from` is noted of as many bytes at `to`, which are none of these. Whole pages.
  void copy(std::uintptr_t from, std::uintptr_t to, std::size_t bytes) noexcept;
  // What nobody places is of `tiers` from now on.
  void set_otherwise(TierClass tiers) noexcept { otherwise_.store(tiers, std::memory_order_relaxed); }
  // From now on they are what nobody has placed.
  void remove(std::uintptr_t address, std::size_t bytes) noexcept;

 private:
  static constexpr unsigned kPageBits = 12;
  static constexpr unsigned kBlockBits = 21;
  static constexpr unsigned kAddressBits = 47;
  static constexpr std::size_t kBlocks = std::size_t{1} << (kAddressBits - kBlockBits);
  static constexpr std::size_t kPages = std::size_t{1} << (kBlockBits - kPageBits);  // of a block
  static constexpr std::size_t kMostTables = 1U << 13;  // of blocks of which only a part is placed
  static constexpr std::size_t kMostPatterns = 64;
  static constexpr std::size_t kGroup = 2048;  // blocks, of which is known whether any has ever been noted
  static constexpr std::size_t kGroups = kBlocks / kGroup;

  // What is noted of a block or page, so that zeros mean that nothing is: 0, or a class and 1; of a block
  // also, with this bit, the number of its table.
  using Note = std::uint16_t;
  static constexpr Note kHasTable = 1U << 15;

  TierClass class_at(std::uintptr_t address) const noexcept {
    return placed_in(address).value_or(otherwise_.load(std::memory_order_relaxed));
  }

  // `use(begin, end, what)` for each stretch of a range of which `what_is_at(address)` is the same.
  template <typename What, typename Use>
  void for_each_alike(std::uintptr_t begin, std::uintptr_t end, const What& what_is_at,
                      const Use& use) const noexcept {
    while (begin < end) {
      const auto what = what_is_at(begin);
      std::uintptr_t next = begin;
      do next = end_of_note(next);
      while (next < end && what_is_at(next) == what);
      use(begin, next < end ? next : end, what);
      begin = next;
    }
  }

  // Of the block or page for which there is one note.
  std::uintptr_t end_of_note(std::uintptr_t address) const noexcept {
    const std::size_t block = address >> kBlockBits;
    const bool has_table =
        block < kBlocks && (blocks_[block].load(std::memory_order_relaxed) & kHasTable) != 0;
    const unsigned bits = has_table ? kPageBits : kBlockBits;
    return ((address >> bits) + 1) << bits;
  }

  // What of a range is noted anew: all of it, what nobody has placed, or what is noted so already.
  struct Of {
    enum Which { kAll, kRest, kSame } which = kAll;
    std::uint8_t same = 0;
    bool with_rest = false;  // and what nobody has placed

    bool has(std::uint8_t noted) const noexcept {
      return which == kAll || (noted == 0 ? which == kRest || with_rest : which == kSame && noted == same);
    }
  };

  bool note(std::uintptr_t address, std::size_t bytes, std::uint8_t value, const Of& of) noexcept;
  bool note_part(std::size_t block, std::size_t first, std::size_t end, std::uint8_t value,
                 const Of& of) noexcept;
  bool give_table(std::size_t block) noexcept;
  void mark_used(std::size_t block) noexcept;

  std::atomic<TierClass> otherwise_;
  Interned<TierPattern, kMostPatterns> patterns_;
  std::atomic<std::uint32_t> tables_used_;
  std::atomic<bool> used_groups_[kGroups];
  std::atomic<Note> blocks_[kBlocks];
  std::atomic<std::uint8_t> tables_[kMostTables][kPages];
};

}  // namespace nvmemu
