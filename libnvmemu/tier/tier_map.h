// SPDX-License-Identifier: Apache-2.0
// Which tier each address of a process is in. Pages are of 4 KiB: a page that a range covers in part is the
// range's.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "tier/tier.h"

namespace nvmemu {

// Memory that nobody has placed: tier 0, another one, or both in turn by address: `own_parts` pages of
// `page_bytes` of tier 0, then `parts` of `tier`, and so on.
struct DefaultTier {
  TierId tier = 0;
  std::uint32_t own_parts = 0;
  std::uint32_t parts = 1;
  std::uintptr_t page_bytes = 4096;

  TierId of(std::uintptr_t address) const noexcept {
    if (own_parts == 0) return tier;
    return address / page_bytes % (own_parts + parts) < own_parts ? TierId{0} : tier;
  }
};

// A process's own: a child of fork has a copy. Readers never wait, and writers neither: two that place the
// same page at once leave one or the other there. Async-signal-safe.
class TierMap {
 public:
  // In memory mapped for it, some 130 MiB of addresses of which what is used is touched; null where there is
  // none to be had.
  static TierMap* create(const DefaultTier& otherwise) noexcept;
  static void destroy(TierMap* map) noexcept;

  TierId tier_of(std::uintptr_t address) const noexcept {
    const std::optional<TierId> placed = placed_in(address);
    return placed ? *placed : otherwise_.of(address);
  }
  // Nothing where nobody has placed it.
  std::optional<TierId> placed_in(std::uintptr_t address) const noexcept;

  // From now on these bytes are in `tier`. False where there is no room to note it.
  bool place(std::uintptr_t address, std::size_t bytes, TierId tier) noexcept;
  // From now on they are what nobody has placed.
  void remove(std::uintptr_t address, std::size_t bytes) noexcept;

 private:
  static constexpr unsigned kPageBits = 12;
  static constexpr unsigned kBlockBits = 21;
  static constexpr unsigned kAddressBits = 47;
  static constexpr std::size_t kBlocks = std::size_t{1} << (kAddressBits - kBlockBits);
  static constexpr std::size_t kPages = std::size_t{1} << (kBlockBits - kPageBits);  // of a block
  static constexpr std::size_t kMostTables = 1U << 13;  // of blocks of which only a part is placed

  // What is noted of a block or page, so that zeros mean that nothing is: 0, or a tier and 1; of a block
  // also, with this bit, the number of its table.
  using Note = std::uint16_t;
  static constexpr Note kHasTable = 1U << 15;

  bool note(std::uintptr_t address, std::size_t bytes, std::uint8_t value) noexcept;
  bool note_part(std::size_t block, std::size_t first, std::size_t end, std::uint8_t value) noexcept;
  bool give_table(std::size_t block) noexcept;

  DefaultTier otherwise_;
  std::atomic<std::uint32_t> tables_used_;
  std::atomic<Note> blocks_[kBlocks];
  std::atomic<std::uint8_t> tables_[kMostTables][kPages];
};

}  // namespace nvmemu
