// SPDX-License-Identifier: Apache-2.0
// Which pages of a page cache are dirty: a list of each file's, in the order in which they became so, and one
// of the files that have some.
#include "storage/page_cache_entries.h"

namespace nvmemu {

std::uint32_t PageCache::dirty_pages() const noexcept { return head_->dirty_pages; }

void PageCache::link_dirty_file(File number) noexcept {
  CachedFile& entry = file(number);
  entry.next_dirty_file = 0;
  entry.previous_dirty_file = head_->last_dirty_file;
  (head_->last_dirty_file != 0 ? file(head_->last_dirty_file).next_dirty_file : head_->first_dirty_file) =
      number;
  head_->last_dirty_file = number;
}

void PageCache::unlink_dirty_file(File number) noexcept {
  const CachedFile& entry = file(number);
  (entry.previous_dirty_file != 0 ? file(entry.previous_dirty_file).next_dirty_file
                                  : head_->first_dirty_file) = entry.next_dirty_file;
  (entry.next_dirty_file != 0 ? file(entry.next_dirty_file).previous_dirty_file : head_->last_dirty_file) =
      entry.previous_dirty_file;
}

void PageCache::link_dirty(std::uint32_t number) noexcept {
  Page& entry = page(number);
  CachedFile& owner = file(entry.file);
  entry.is_dirty = 1;
  entry.next_dirty = 0;
  entry.previous_dirty = owner.last_dirty;
  (owner.last_dirty != 0 ? page(owner.last_dirty).next_dirty : owner.first_dirty) = number;
  owner.last_dirty = number;
  if (owner.dirty_pages++ == 0) link_dirty_file(entry.file);
  ++head_->dirty_pages;
}

void PageCache::unlink_dirty(std::uint32_t number) noexcept {
  Page& entry = page(number);
  CachedFile& owner = file(entry.file);
  (entry.previous_dirty != 0 ? page(entry.previous_dirty).next_dirty : owner.first_dirty) = entry.next_dirty;
  (entry.next_dirty != 0 ? page(entry.next_dirty).previous_dirty : owner.last_dirty) = entry.previous_dirty;
  entry.is_dirty = 0;
  if (owner.dirty_pages > 0 && --owner.dirty_pages == 0) unlink_dirty_file(entry.file);
  if (head_->dirty_pages > 0) --head_->dirty_pages;
}

void PageCache::make_dirty(File file, std::uint32_t index) noexcept {
  const std::uint32_t found = find_page(file, index);
  if (found != 0 && page(found).is_dirty == 0) link_dirty(found);
}

PageCache::Run PageCache::clean_next(File number, std::uint32_t most) noexcept {
  Run run{.file = number};
  while (run.pages < most) {
    const std::uint32_t next = file(number).first_dirty;
    if (next == 0 || (run.pages > 0 && page(next).index != run.first + run.pages)) break;
    if (run.pages++ == 0) run.first = page(next).index;
    unlink_dirty(next);
  }
  return run;
}

void PageCache::clean(File number) noexcept {
  for (std::uint32_t n = 0; n <= pages_most_ && file(number).first_dirty != 0; ++n)
    unlink_dirty(file(number).first_dirty);
}

PageCache::Run PageCache::clean_oldest(std::uint32_t most) noexcept {
  return head_->first_dirty_file == 0 ? Run{} : clean_next(head_->first_dirty_file, most);
}

}  // namespace nvmemu
