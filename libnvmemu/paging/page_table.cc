// SPDX-License-Identifier: Apache-2.0
#include "paging/page_table.h"

#include "base/mapped.h"

namespace nvmemu {

PageTable* PageTable::create() noexcept { return map_zeroed<PageTable>(); }

void PageTable::destroy(PageTable* table) noexcept {
  if (table == nullptr) return;
  for (PageEntry* const leaf : table->leaves_) unmap(reinterpret_cast<Leaf*>(leaf));
  unmap(table);
}

PageEntry* PageTable::get(std::uint64_t page) noexcept {
  PageEntry*& leaf = leaves_[page >> kLeafBits];
  if (leaf == nullptr) {
    Leaf* const made = map_zeroed<Leaf>();
    if (made == nullptr) return nullptr;
    leaf = made->entries;
  }
  return leaf + (page & kLeafMask);
}

}  // namespace nvmemu
