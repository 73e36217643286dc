// SPDX-License-Identifier: Apache-2.0
#include "storage/volume.h"

#include <algorithm>

#include "storage/file_pages.h"

namespace nvmemu {
namespace {

// As Linux does by default: written back from a tenth of the page cache on, and waited for from a fifth on.
constexpr std::uint32_t kBackgroundPart = 10, kWaitPart = 5;
// What a host brings of a mapped file at once.
constexpr std::uint32_t kFaultPages = 4;

// Files lie apart, each in one piece.
std::uint64_t slot_of(PageCache::File file, std::uint32_t page) noexcept {
  return (std::uint64_t{file} << 32) + page;
}

// Memory: latency, and bytes at a rate that all share.
std::uint64_t move_bytes(const PageDevice& device, VolumeState& state, PageOperation operation,
                         std::uint64_t bytes, std::uint64_t now_ns) noexcept {
  const bool reads = operation == PageOperation::kRead;
  const double takes_ns = transfer_ns(static_cast<double>(bytes), reads ? device.read_bps : device.write_bps);
  std::atomic<double>& moving_until_ns = state.moving_until_ns[static_cast<std::size_t>(operation)];
  double before_ns = moving_until_ns.load(std::memory_order_relaxed), until_ns = 0;
  do until_ns = std::max(before_ns, static_cast<double>(now_ns)) + takes_ns;
  while (!moving_until_ns.compare_exchange_weak(before_ns, until_ns, std::memory_order_relaxed));
  return static_cast<std::uint64_t>(until_ns + (reads ? device.read : device.write).at(0));
}

}  // namespace

std::uint64_t Volume::request(PageOperation operation, const PageCache::Run& run, std::uint64_t now_ns,
                              bool is_sorted) noexcept {
  const bool reads = operation == PageOperation::kRead;
  StorageTally::add(reads ? tally().device_reads : tally().device_writes, 1);
  StorageTally::add(reads ? tally().device_read_pages : tally().device_written_pages, run.pages);
  return state_->model.submit(operation, slot_of(run.file, run.first), run.pages, now_ns, is_sorted);
}

// The page is in the cache from now on; what must give way is written where it is dirty, which nobody waits
// for.
void Volume::keep(PageCache::File file, std::uint32_t page, std::uint64_t now_ns) noexcept {
  const PageCache::Evicted evicted = cache_->add(file, page);
  if (evicted.is_dirty) send({evicted.file, evicted.page, 1}, now_ns, false);
}

// On its way to the device, which a sync of its file waits for.
std::uint64_t Volume::send(const PageCache::Run& run, std::uint64_t now_ns, bool is_sorted) noexcept {
  const std::uint64_t done_ns = request(PageOperation::kWrite, run, now_ns, is_sorted);
  CachedFile& entry = cache_->file(run.file);
  entry.written_back_ns = std::max(entry.written_back_ns, done_ns);
  return done_ns;
}

std::uint64_t Volume::fetch(const PageCache::Run& run, std::uint64_t now_ns) noexcept {
  const std::uint64_t done_ns = request(PageOperation::kRead, run, now_ns);
  for (std::uint32_t i = 0; i < run.pages; ++i) keep(run.file, run.first + i, now_ns);
  return done_ns;
}

// Each run of pages that are not there is a request, and one is waited for after the other.
std::uint64_t Volume::bring(PageCache::File file, std::uint32_t first, std::uint32_t end,
                            std::uint64_t now_ns) noexcept {
  const std::uint32_t at_once = device_->mode == StorageMode::kPagedDax ? kFaultPages : kBatchPages;
  std::uint64_t done_ns = now_ns, hits = 0;
  PageCache::Run absent{.file = file};
  const auto bring_absent = [&] {
    if (absent.pages > 0) done_ns = fetch(absent, done_ns);
    absent.pages = 0;
  };
  for (std::uint32_t page = first; page < end; ++page) {
    if (cache_->touch(file, page)) {
      ++hits;
      bring_absent();
      continue;
    }
    if (absent.pages++ == 0) absent.first = page;
    if (absent.pages == at_once) bring_absent();
  }
  bring_absent();
  StorageTally::add(tally().hit_pages, hits);
  StorageTally::add(tally().missed_pages, end - first - hits);
  const CachedFile& entry = cache_->file(file);
  return is_coming(entry, first, end) ? std::max<std::uint64_t>(done_ns, entry.ahead_ready_ns) : done_ns;
}

Volume::PagesAhead Volume::ahead_of(const CachedFile& entry, std::uint32_t end,
                                    std::uint32_t times) const noexcept {
  const std::uint32_t ahead_pages = page_of(device_->read_ahead_bytes * times), known = entry.ahead_end;
  if (known > end + ahead_pages / 2) return {};
  return {std::max(end, known), std::min(end + ahead_pages, page_of(entry.size + kPageBytes - 1))};
}

// The next page, or the rest of the same.
bool Volume::reads_ahead(const ReadStream& stream, std::uint32_t first) const noexcept {
  const std::uint32_t next = stream.next_page;
  const bool goes_on = next > 0 && (first == next || first + 1 == next);
  return goes_on && stream.times_ahead > 0 && device_->mode == StorageMode::kBlock;
}

void Volume::read_ahead(PageCache::File file, std::uint32_t end, std::uint32_t times,
                        std::uint64_t now_ns) noexcept {
  CachedFile& entry = cache_->file(file);
  const PagesAhead ahead = ahead_of(entry, end, times);
  PageCache::Run run{.file = file, .first = ahead.first};
  while (run.first < ahead.end && cache_->touch(file, run.first)) ++run.first;
  while (run.first + run.pages < ahead.end && !cache_->touch(file, run.first + run.pages)) ++run.pages;
  if (run.pages == 0) return;
  StorageTally::add(tally().read_ahead_pages, run.pages);
  entry.ahead_ready_ns = fetch(run, now_ns);
  entry.ahead_begin = run.first;
  entry.ahead_end = run.first + run.pages;
}

std::uint64_t Volume::read(const FileRange& range, ReadStream& stream, std::uint64_t now_ns) noexcept {
  if (is_memory()) return read_memory(*device_, *state_, range.bytes, now_ns);
  tally().count_read(range.bytes);
  const std::uint32_t first = page_of(range.offset), end = end_page(range);
  const std::uint64_t done_ns = bring(range.file, first, end, now_ns);
  const bool goes_on = reads_ahead(stream, first);
  stream.next_page = end;
  if (goes_on) read_ahead(range.file, end, stream.times_ahead, now_ns);
  return done_ns;
}

std::uint64_t Volume::read_memory(const StorageDevice& device, VolumeState& state, std::uint64_t bytes,
                                  std::uint64_t now_ns) noexcept {
  state.tally.count_read(bytes);
  return move_bytes(device.device, state, PageOperation::kRead, bytes, now_ns);
}

std::uint64_t Volume::read_directly(const FileRange& range, std::uint64_t now_ns) noexcept {
  if (is_memory()) {
    ReadStream none;
    return read(range, none, now_ns);
  }
  tally().count_read(range.bytes);
  const std::uint32_t first = page_of(range.offset);
  const std::uint64_t clean_ns = send_dirty(range.file, now_ns);
  return request(PageOperation::kRead, {range.file, first, end_page(range) - first}, clean_ns);
}

// What a write leaves of a page that is not there must be read.
std::uint64_t Volume::bring_edges(const FileRange& range, std::uint64_t now_ns) noexcept {
  const std::uint64_t size = cache_->file(range.file).size, end = range.offset + range.bytes;
  const std::uint32_t first = page_of(range.offset), last = end_page(range) - 1;
  std::uint64_t done_ns = now_ns;
  const auto bring_page = [&](std::uint32_t page) {
    if (std::uint64_t{page} * kPageBytes < size && !cache_->touch(range.file, page))
      done_ns = fetch({range.file, page, 1}, done_ns);
  };
  if (range.offset % kPageBytes != 0) bring_page(first);
  if (end % kPageBytes != 0 && end < size && (last != first || range.offset % kPageBytes == 0))
    bring_page(last);
  return done_ns;
}

// In the background, until there is little that is dirty or much on its way; where that is too much in all,
// who writes waits.
std::uint64_t Volume::flush_some(std::uint64_t now_ns) noexcept {
  WriteBack& write_back = state_->write_back;
  const std::uint32_t background = cache_->capacity() / kBackgroundPart;
  while (cache_->dirty_pages() > background && write_back.has_room(now_ns)) {
    std::uint32_t sent = 0;
    std::uint64_t done_ns = now_ns;
    while (sent < kBatchPages) {
      const PageCache::Run run = cache_->clean_oldest(kBatchPages - sent);
      if (run.pages == 0) break;
      sent += run.pages;
      done_ns = std::max(done_ns, send(run, now_ns, true));
    }
    if (sent == 0) break;
    write_back.send(sent, done_ns);
  }
  const std::uint32_t most = cache_->capacity() / kWaitPart, dirty = cache_->dirty_pages();
  return write_back.until_below(dirty < most ? most - dirty : 0, now_ns);
}

std::uint64_t Volume::write(const FileRange& range, std::uint64_t now_ns) noexcept {
  std::uint64_t done_ns = now_ns;
  if (is_memory()) {
    done_ns = move_bytes(device_->device, *state_, PageOperation::kWrite, range.bytes, now_ns);
  } else {
    done_ns = bring_edges(range, now_ns);
    for (std::uint32_t page = page_of(range.offset), end = end_page(range); page < end; ++page) {
      if (!cache_->touch(range.file, page)) keep(range.file, page, now_ns);
      cache_->make_dirty(range.file, page);
    }
    done_ns = std::max(done_ns, flush_some(now_ns));
  }
  note_written(range);
  return done_ns;
}

std::uint64_t Volume::write_directly(const FileRange& range, std::uint64_t now_ns) noexcept {
  if (is_memory()) return write(range, now_ns);
  const std::uint32_t first = page_of(range.offset);
  const std::uint64_t clean_ns = send_dirty(range.file, now_ns);
  note_written(range);
  return request(PageOperation::kWrite, {range.file, first, end_page(range) - first}, clean_ns);
}

void Volume::note_written(const FileRange& range) noexcept {
  StorageTally::add(tally().writes, 1);
  StorageTally::add(tally().written_bytes, range.bytes);
  CachedFile& entry = cache_->file(range.file);
  entry.changes |= kTimesChanged;
  resize(range.file, std::max<std::uint64_t>(entry.size, range.offset + range.bytes));
}

void Volume::resize(PageCache::File file, std::uint64_t bytes) noexcept {
  CachedFile& entry = cache_->file(file);
  if (entry.size == bytes) return;
  if (bytes < entry.size && !is_memory()) cache_->drop(file, page_of(bytes + kPageBytes - 1));
  entry.size = bytes;
  entry.changes |= kTimesChanged | kSizeChanged;
}

}  // namespace nvmemu
