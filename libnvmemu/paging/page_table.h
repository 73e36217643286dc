// SPDX-License-Identifier: Apache-2.0
// What the pager knows of each page of a process: where its contents are. Two levels, of which what is used
// is mapped. Not thread-safe; async-signal-safe.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nvmemu {

enum class PageState : std::uint8_t {
  kNew,     // nobody has touched it: zeros
  kClean,   // in DRAM, write-protected; the store has the same, in its frame's slot
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

class PageTable {
 public:
  // Null where there is no memory for it.
  static PageTable* create() noexcept;
  static void destroy(PageTable* table) noexcept;

  // Null where nothing is known of the page, which is kNew then.
  PageEntry* find(std::uint64_t page) const noexcept {
    const PageEntry* const leaf = leaves_[page >> kLeafBits];
    return leaf == nullptr ? nullptr : const_cast<PageEntry*>(leaf) + (page & kLeafMask);
  }
  // Null where there is no memory to note it in.
  PageEntry* get(std::uint64_t page) noexcept;

  // Each page from `begin` to before `end` of which something is known, in order: visit(page, entry).
  template <typename Visit>
  void for_each(std::uint64_t begin, std::uint64_t end, Visit visit) {
    for (std::uint64_t page = begin; page < end;) {
      PageEntry* const leaf = leaves_[page >> kLeafBits];
      const std::uint64_t leaf_end = (page | kLeafMask) + 1;
      const std::uint64_t stop = leaf_end < end ? leaf_end : end;
      if (leaf == nullptr) {
        page = stop;
        continue;
      }
      for (; page < stop; ++page) visit(page, leaf[page & kLeafMask]);
    }
  }

  static constexpr std::uint64_t kPages = std::uint64_t{1} << 35;  // of an address space of 47 bits

 private:
  static constexpr unsigned kLeafBits = 16;  // 256 MiB of addresses
  static constexpr std::uint64_t kLeafMask = (std::uint64_t{1} << kLeafBits) - 1;
  struct Leaf {
    PageEntry entries[std::size_t{1} << kLeafBits];
  };

  PageEntry* leaves_[kPages >> kLeafBits];
};

}  // namespace nvmemu
