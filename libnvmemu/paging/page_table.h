// SPDX-License-Identifier: Apache-2.0
// What the pager knows of each page of a process: where its contents are.
#pragma once

#include <cstdint>

#include "paging/page_map.h"

namespace nvmemu {

enum class PageState : std::uint8_t {
  kNew,     // nobody has touched it: zeros
  kClean,   // in DRAM, write-protected; the store has the same in its frame's slot, if that is one
  kDirty,   // in DRAM only
  kStaged,  // in DRAM apart, on its way to the store
  kOut,     // in the store only
  kBusy,    // being read from the store: whoever does has it
};

// Zeros: kNew.
struct PageEntry {
  // While it is pinned it stays in DRAM: the kernel is given its address.
  static constexpr std::uint16_t kMostPins = 0x1fff;

  std::uint64_t state_bits : 3;
  std::uint64_t pins : 13;
  std::uint64_t number : 48;  // of its frame (kClean, kDirty, kStaged), or slot (kOut, kBusy)

  PageState state() const noexcept { return static_cast<PageState>(state_bits); }
  bool is_in_dram() const noexcept { return state() == PageState::kClean || state() == PageState::kDirty; }
  void set(PageState state, std::uint64_t new_number) noexcept {
    state_bits = static_cast<std::uint64_t>(state) & 7;
    number = new_number & ((std::uint64_t{1} << 48) - 1);
  }
};
static_assert(sizeof(PageEntry) == 8);

// What is not in it is kNew.
using PageTable = PageMap<PageEntry>;

}  // namespace nvmemu
