// SPDX-License-Identifier: Apache-2.0
// What a program says of a range of a file, beside reading and writing it.
#include <algorithm>

#include "storage/volume.h"

namespace nvmemu {
namespace {

struct Pages {
  std::uint32_t first = 0, end = 0;
};

std::uint32_t page_below(std::uint64_t offset) noexcept {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(offset / kPageBytes, 0xfffffffeU));
}
std::uint32_t page_above(std::uint64_t offset) noexcept {
  return page_below(offset) + (offset % kPageBytes != 0 ? 1 : 0);
}

std::uint64_t end_of(const FileRange& range) noexcept {
  const std::uint64_t end = range.offset + range.bytes;
  return range.bytes == 0 || end < range.offset ? ~std::uint64_t{0} : end;
}

// Those that lie in it as a whole, and what is behind the file's end with its last.
Pages whole_pages(const FileRange& range, std::uint64_t size) noexcept {
  const std::uint64_t end = end_of(range);
  return {page_above(range.offset), end >= size ? PageCache::kNoEnd : page_below(end)};
}

}  // namespace

// As far as there is something, and the cache has room for it.
void Volume::will_need(const FileRange& range, std::uint64_t now_ns) noexcept {
  if (is_memory()) return;
  const PageCache::File file = range.file;
  const std::uint64_t size = cache_->file(file).size;
  const std::uint32_t first = page_below(range.offset);
  const std::uint32_t file_end = page_above(std::min(end_of(range), size));
  const auto end = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(file_end, std::uint64_t{first} + cache_->capacity()));
  constexpr std::uint32_t kMostPages = 1024;
  std::uint64_t done_ns = 0;
  PageCache::Run run{.file = file};
  for (std::uint32_t page = first; page < end; page = run.first + run.pages) {
    run.first = page;
    run.pages = 0;
    while (run.first < end && cache_->touch(file, run.first)) ++run.first;
    while (run.pages < kMostPages && run.first + run.pages < end &&
           !cache_->touch(file, run.first + run.pages))
      ++run.pages;
    if (run.pages == 0) break;
    StorageTally::add(tally().read_ahead_pages, run.pages);
    done_ns = std::max(done_ns, fetch(run, now_ns));
  }
  if (done_ns == 0) return;
  CachedFile& entry = cache_->file(file);
  const bool is_more = entry.ahead_ready_ns > now_ns && entry.ahead_begin < entry.ahead_end;
  entry.ahead_begin = is_more ? std::min<std::uint32_t>(entry.ahead_begin, first) : first;
  entry.ahead_end = is_more ? std::max<std::uint32_t>(entry.ahead_end, end) : end;
  entry.ahead_ready_ns = is_more ? std::max<std::uint64_t>(entry.ahead_ready_ns, done_ns) : done_ns;
}

void Volume::will_not_need(const FileRange& range, std::uint64_t now_ns) noexcept {
  if (is_memory()) return;
  const Pages pages = whole_pages(range, cache_->file(range.file).size);
  if (pages.first < pages.end) cache_->drop(range.file, pages.first, pages.end, PageCache::Drops::kClean);
  write_back(range.file, {.begins = true}, now_ns);
}

void Volume::allocate(const FileRange& range, Allocation allocation, std::uint64_t bytes) noexcept {
  if (allocation != Allocation::kRoom && !is_memory()) {
    const Pages pages = allocation == Allocation::kMoved ? Pages{page_below(range.offset), PageCache::kNoEnd}
                                                         : whole_pages(range, cache_->file(range.file).size);
    if (pages.first < pages.end) cache_->drop(range.file, pages.first, pages.end);
  }
  resize(range.file, bytes);
  cache_->file(range.file).changes |= kTimesChanged | kSizeChanged;
}

}  // namespace nvmemu
