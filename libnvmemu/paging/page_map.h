// SPDX-License-Identifier: Apache-2.0
// Something about each page of an address space: two levels, of which what is used is mapped. Not
// thread-safe; async-signal-safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/mapped.h"

namespace nvmemu {

// Zeros are what an Entry is of which nothing is known.
template <typename Entry>
class PageMap {
 public:
  // Null where there is no memory for it.
  static PageMap* create() noexcept { return map_zeroed<PageMap>(); }
  static void destroy(PageMap* map) noexcept {
    if (map == nullptr) return;
    for (Leaf *leaf = map->newest_, *before = nullptr; leaf != nullptr; leaf = before) {
      before = leaf->before;
      unmap(leaf);
    }
    unmap(map);
  }

  // Null where nothing is known of the page.
  Entry* find(std::uint64_t page) const noexcept {
    const Entry* const leaf = leaves_[page >> kLeafBits];
    return leaf == nullptr ? nullptr : const_cast<Entry*>(leaf) + (page & kLeafMask);
  }
  // Null where there is no memory to note it in.
  Entry* get(std::uint64_t page) noexcept {
    Entry*& leaf = leaves_[page >> kLeafBits];
    if (leaf == nullptr) {
      Leaf* const made = map_zeroed<Leaf>();
      if (made == nullptr) return nullptr;
      leaf = made->entries;
      made->before = newest_;
      newest_ = made;
    }
    return leaf + (page & kLeafMask);
  }

  // Each page from `begin` to before `end` of which something is known, in order: visit(page, entry).
  template <typename Visit>
  void for_each(std::uint64_t begin, std::uint64_t end, Visit visit) {
    for (std::uint64_t page = begin; page < end;) {
      Entry* const leaf = leaves_[page >> kLeafBits];
      const std::uint64_t leaf_end = (page | kLeafMask) + 1;
      const std::uint64_t stop = leaf_end < end ? leaf_end : end;
      if (leaf == nullptr) {
        page = stop;
        continue;
      }
      for (; page < stop; ++page) visit(page, leaf[page & kLeafMask]);
    }
  }

  // Likewise of all, in any order: visit(entry).
  template <typename Visit>
  void for_all(Visit visit) {
    for (Leaf* leaf = newest_; leaf != nullptr; leaf = leaf->before) {
      for (Entry& entry : leaf->entries) visit(entry);
    }
  }

  static constexpr std::uint64_t kPages = std::uint64_t{1} << 35;  // of an address space of 47 bits

 private:
  static constexpr unsigned kLeafBits = 16;  // 256 MiB of addresses
  static constexpr std::uint64_t kLeafMask = (std::uint64_t{1} << kLeafBits) - 1;
  struct Leaf {
    Entry entries[std::size_t{1} << kLeafBits];
    Leaf* before;  // that was made
  };

  Leaf* newest_;
  Entry* leaves_[kPages >> kLeafBits];
};

}  // namespace nvmemu
