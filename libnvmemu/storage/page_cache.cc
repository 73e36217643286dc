// SPDX-License-Identifier: Apache-2.0
#include "storage/page_cache.h"

#include <algorithm>
#include <bit>

#include "storage/page_cache_entries.h"

namespace nvmemu {

namespace {

constexpr std::uint64_t mix(std::uint64_t word) noexcept {
  word ^= word >> 33;
  word *= 0xff51afd7ed558ccdULL;
  word ^= word >> 33;
  return word;
}

std::uint32_t buckets_for(std::uint32_t most) noexcept { return std::bit_ceil(std::max(1U, most)); }

}  // namespace

std::size_t PageCache::bytes_for(std::uint32_t pages, std::uint32_t files) noexcept {
  return sizeof(Head) + (std::size_t{files} + 1) * sizeof(CachedFile) +
         (std::size_t{pages} + 1) * sizeof(Page) +
         (std::size_t{buckets_for(pages)} + buckets_for(files)) * sizeof(std::uint32_t);
}

PageCache::PageCache(void* memory, std::uint32_t pages, std::uint32_t files) noexcept
    : pages_most_(pages), files_most_(files), head_(static_cast<Head*>(memory)) {
  files_ = reinterpret_cast<CachedFile*>(head_ + 1);
  pages_ = reinterpret_cast<Page*>(files_ + files + 1);
  file_buckets_ = reinterpret_cast<Watched<std::uint32_t>*>(pages_ + pages + 1);
  page_buckets_ = file_buckets_ + buckets_for(files);
}

void PageCache::clear() noexcept {
  std::fill_n(file_buckets_, buckets_for(files_most_), 0U);
  std::fill_n(page_buckets_, buckets_for(pages_most_), 0U);
  *head_ = {};
  files_[0] = {};
  pages_[0] = {};
}

// Pages side by side are so in the table, too: a call that reads many would else have a page fault in the
// shared memory for each, of which some 10 take longer than a fast device.
Watched<std::uint32_t>& PageCache::bucket_of(File file, std::uint32_t page) const noexcept {
  constexpr std::uint32_t kNeighbours = 64;
  const std::uint64_t block = mix(std::uint64_t{file} << 32 | page / kNeighbours);
  return page_buckets_[(block * kNeighbours + page % kNeighbours) & (buckets_for(pages_most_) - 1)];
}

Watched<std::uint32_t>& PageCache::bucket_of(const FileName& name) const noexcept {
  return file_buckets_[mix(name.inode ^ mix(name.device)) & (buckets_for(files_most_) - 1)];
}

PageCache::File PageCache::find(const FileName& name) const noexcept {
  std::uint32_t found = bucket_of(name);
  for (std::uint32_t n = 0; n <= files_most_ && found != 0 && found <= files_most_; ++n) {
    if (files_[found].name() == name) return found;
    found = files_[found].next_of_hash;
  }
  return 0;
}

// Makes it the most recently used: behind 0, whose `older` is the newest and whose `newer` the oldest.
void PageCache::use_file(File number) noexcept {
  CachedFile& entry = file(number);
  entry.was_seen = 0;
  file(entry.newer).older = entry.older;
  file(entry.older).newer = entry.newer;
  entry.newer = 0;
  entry.older = files_[0].older;
  file(entry.older).newer = number;
  files_[0].older = number;
}

PageCache::File PageCache::oldest_file() noexcept {
  for (std::uint32_t n = 0; n < files_most_ && file(files_[0].newer).was_seen != 0; ++n)
    use_file(files_[0].newer);
  return files_[0].newer;
}

PageCache::File PageCache::find_or_add(const FileName& name) noexcept {
  if (files_most_ == 0) return 0;
  if (const File found = find(name); found != 0) {
    use_file(found);
    return found;
  }
  File number = head_->free_file;
  if (number != 0 && number <= files_most_) {
    head_->free_file = files_[number].next_of_hash;
  } else if (head_->used_files < files_most_) {
    number = ++head_->used_files;
  } else {
    forget(oldest_file());
    number = head_->free_file;
    head_->free_file = file(number).next_of_hash;
  }
  CachedFile& entry = file(number);
  entry = {};
  entry.device = name.device;
  entry.inode = name.inode;
  entry.newer = entry.older = number;
  use_file(number);
  Watched<std::uint32_t>& bucket = bucket_of(name);
  entry.next_of_hash = bucket;
  bucket = number;
  return number;
}

void PageCache::unhash_file(File number) noexcept {
  Watched<std::uint32_t>* link = &bucket_of(file(number).name());
  for (std::uint32_t n = 0; n <= files_most_ && *link != 0 && *link != number; ++n)
    link = &file(*link).next_of_hash;
  if (*link == number) *link = file(number).next_of_hash;
}

void PageCache::forget(File number) noexcept {
  if (number == 0 || number > files_most_) return;
  drop(number, 0);
  unhash_file(number);
  CachedFile& entry = files_[number];
  file(entry.newer).older = entry.older;
  file(entry.older).newer = entry.newer;
  entry.device = entry.inode = 0;
  entry.next_of_hash = head_->free_file;
  head_->free_file = number;
}

void PageCache::retire(File number) noexcept {
  if (number == 0 || number > files_most_) return;
  clean(number);
  files_[number].is_retired = 1;
  files_[number].pages_were_seen = 0;
  std::uint32_t next = files_[number].first_page;
  for (std::uint32_t n = 0; n <= pages_most_ && next != 0; ++n) {
    unlink(next);
    link_oldest(next);
    next = page(next).next_of_file;
  }
}

void PageCache::renew(File number) noexcept {
  if (file(number).is_retired == 0) return;
  drop(number, 0);
  file(number).is_retired = 0;
}

void PageCache::forget_changes() noexcept {
  for (File number = 1; number <= std::min(head_->used_files, files_most_); ++number)
    files_[number].changes = 0;
}

std::uint32_t PageCache::find_page(File file, std::uint32_t index) const noexcept {
  std::uint32_t found = bucket_of(file, index);
  for (std::uint32_t n = 0; n <= pages_most_ && found != 0; ++n) {
    const Page& entry = page(found);
    if (entry.file == file && entry.index == index) return found;
    found = entry.next_of_hash;
  }
  return 0;
}

std::uint32_t PageCache::take_page(Evicted& evicted) noexcept {
  std::uint32_t number = head_->free_page;
  if (number != 0) {
    head_->free_page = page(number).next_of_hash;
    return number;
  }
  if (head_->used_pages < pages_most_) return ++head_->used_pages;
  number = oldest_page();
  const Page& oldest = page(number);
  evicted = {oldest.file, oldest.index, oldest.is_dirty != 0};
  remove(number);
  head_->free_page = page(number).next_of_hash;
  return number;
}

PageCache::Evicted PageCache::add(File number, std::uint32_t index) noexcept {
  Evicted evicted;
  if (pages_most_ == 0) return evicted;
  tell_pages_they_were_seen(number);
  const std::uint32_t taken = take_page(evicted);
  Page& entry = page(taken);
  entry = {};
  entry.file = number;
  entry.index = index;
  link_newest(taken);
  Watched<std::uint32_t>& bucket = bucket_of(number, index);
  entry.next_of_hash = bucket;
  bucket = taken;
  CachedFile& owner = file(number);
  entry.next_of_file = owner.first_page;
  if (owner.first_page != 0) page(owner.first_page).previous_of_file = taken;
  owner.first_page = taken;
  owner.pages = owner.pages + 1;
  owner.pages_end = std::max<std::uint32_t>(owner.pages_end, index + 1);
  return evicted;
}

void PageCache::unhash_page(std::uint32_t number) noexcept {
  Watched<std::uint32_t>* link = &bucket_of(page(number).file, page(number).index);
  for (std::uint32_t n = 0; n <= pages_most_ && *link != 0 && *link != number; ++n)
    link = &page(*link).next_of_hash;
  if (*link == number) *link = page(number).next_of_hash;
}

void PageCache::remove(std::uint32_t number) noexcept {
  Page& entry = page(number);
  if (entry.is_dirty != 0) unlink_dirty(number);
  unlink(number);
  unhash_page(number);
  CachedFile& owner = file(entry.file);
  (entry.previous_of_file != 0 ? page(entry.previous_of_file).next_of_file : owner.first_page) =
      entry.next_of_file;
  if (entry.next_of_file != 0) page(entry.next_of_file).previous_of_file = entry.previous_of_file;
  owner.pages = owner.pages - 1;
  entry.file = 0;
  entry.next_of_hash = head_->free_page;
  head_->free_page = number;
}

void PageCache::drop(File number, std::uint32_t from, std::uint32_t end, Drops drops) noexcept {
  CachedFile& owner = file(number);
  const auto goes = [&](const Page& one) {
    return one.index >= from && one.index < end && (drops == Drops::kAll || one.is_dirty == 0);
  };
  std::uint32_t next = owner.first_page;
  for (std::uint32_t n = 0; n <= pages_most_ && next != 0; ++n) {
    const std::uint32_t current = next;
    next = page(current).next_of_file;
    if (goes(page(current))) remove(current);
  }
  if (end == kNoEnd && drops == Drops::kAll) owner.pages_end = std::min<std::uint32_t>(owner.pages_end, from);
  if (owner.ahead_end > from && owner.ahead_begin < end) owner.ahead_begin = owner.ahead_end = 0;
}

}  // namespace nvmemu
