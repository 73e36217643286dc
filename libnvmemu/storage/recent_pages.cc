// SPDX-License-Identifier: Apache-2.0
// Which pages of a page cache were used last, and which is the first to go. Who only looks moves nothing, and
// leaves a mark, for which a page that would have to go has a second chance.
#include "storage/page_cache_entries.h"

namespace nvmemu {

// 0 is both ends of the list.
void PageCache::link_between(std::uint32_t number, std::uint32_t newer, std::uint32_t older) noexcept {
  Page& entry = page(number);
  entry.was_seen = 0;
  entry.newer = newer;
  entry.older = older;
  page(newer).older = number;
  page(older).newer = number;
}

void PageCache::link_newest(std::uint32_t number) noexcept { link_between(number, 0, pages_[0].older); }
void PageCache::link_oldest(std::uint32_t number) noexcept { link_between(number, pages_[0].newer, 0); }

void PageCache::unlink(std::uint32_t number) noexcept {
  const Page& entry = page(number);
  page(entry.newer).older = entry.older;
  page(entry.older).newer = entry.newer;
}

bool PageCache::touch(File file, std::uint32_t index) noexcept {
  const std::uint32_t found = find_page(file, index);
  if (found == 0) return false;
  tell_pages_they_were_seen(file);
  unlink(found);
  link_newest(found);
  return true;
}

// A file that is read as a whole, as most are, is one mark: its pages' own lie apart in memory that the
// program's reads have pushed out of the processor's caches, and are made when one of them is needed.
bool PageCache::glance(File number, std::uint32_t begin, std::uint32_t end) noexcept {
  if (CachedFile& entry = file(number);
      begin == 0 && entry.has_all_from_first() && end == entry.pages && end > 0) {
    if (entry.pages_were_seen == 0) entry.pages_were_seen = 1;
    return true;
  }
  for (std::uint32_t index = begin; index < end; ++index) {
    const std::uint32_t found = find_page(number, index);
    if (found == 0) return false;
    if (page(found).was_seen == 0) page(found).was_seen = 1;
  }
  return true;
}

void PageCache::tell_pages_they_were_seen(File number) noexcept {
  CachedFile& owner = file(number);
  if (owner.pages_were_seen == 0) return;
  owner.pages_were_seen = 0;
  std::uint32_t next = owner.first_page;
  for (std::uint32_t n = 0; n <= pages_most_ && next != 0; ++n) {
    page(next).was_seen = 1;
    next = page(next).next_of_file;
  }
}

std::uint32_t PageCache::oldest_page() noexcept {
  for (std::uint32_t n = 0; n < pages_most_; ++n) {
    const std::uint32_t seen = pages_[0].newer;
    tell_pages_they_were_seen(page(seen).file);
    if (page(seen).was_seen == 0) break;
    unlink(seen);
    link_newest(seen);
  }
  return pages_[0].newer;
}

}  // namespace nvmemu
