// SPDX-License-Identifier: Apache-2.0
// Which blocks of memory a process has of its allocator, and which of its calls asked for each: what is
// waited for in them is that call's. Blocks and sites for which there is no room are nobody's. Thread-safe
// without locks, and async-signal-safe. Zeros are a valid state: to lie in memory mapped for it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "walk/place_tally.h"

namespace nvmemu {

class AllocationSites {
 public:
  static constexpr std::size_t kMostSites = 512;
  static constexpr std::size_t kMostBlocks = 8192;

  struct Site {
    std::atomic<std::uintptr_t> code;  // where the call returns to; 0: none
    std::atomic<bool> is_named;
    std::atomic<std::uint32_t> place;                      // of the tally, and 1; 0: none yet
    std::atomic<std::uint64_t> lowest, bytes, most_bytes;  // of its blocks: address, now, and at any time
    char name[PlaceTally::kNameBytes];
  };

  // That of the call which returns to `code`. Null: it has none yet.
  Site* find_site(std::uintptr_t code) noexcept;
  // Likewise, made where there is none; `name` is cut to what fits. Null: there is no room.
  Site* add_site(std::uintptr_t code, std::string_view name) noexcept;

  std::size_t number_of(const Site& site) const noexcept {  // below kMostSites
    return static_cast<std::size_t>(&site - sites_.data());
  }
  Site& site(std::size_t number) noexcept { return sites_[number]; }

  // False: there is no room.
  bool take(std::uintptr_t block, std::size_t bytes, Site& site) noexcept;
  bool has(std::uintptr_t block) const noexcept;
  // The block at that very address, if any.
  void give_back(std::uintptr_t block) noexcept;
  // Whose block the address is in; null: nobody's. Where blocks overlap, since one was given back unseen, the
  // smaller one's.
  Site* find(std::uintptr_t address) noexcept;

  // In the child of a fork: places in the tally are its parent's, blocks are its own, too.
  void forget_places() noexcept;

 private:
  static constexpr std::size_t kReach = 16;  // entries searched from where the hash points

  struct Block {
    std::atomic<std::uintptr_t> begin;  // 0: none; 1: being filled
    std::atomic<std::uintptr_t> end;
    std::atomic<std::uint32_t> site;
  };
  template <typename Test>
  std::size_t search(std::size_t home, const Test& is_it) const noexcept;
  template <typename Search>
  std::size_t search_classes(const Search& search_in) const noexcept;
  std::size_t find_block(std::uintptr_t block) const noexcept;  // its entry; kMostBlocks: none

  std::array<Site, kMostSites> sites_;
  std::array<Block, kMostBlocks> blocks_;
  std::array<std::atomic<std::uint8_t>, kMostBlocks>
      reached_;                              // entries searched from there that ever held one
  std::atomic<std::uint64_t> size_classes_;  // bit n: blocks of up to 2^n bytes there were
};

}  // namespace nvmemu
