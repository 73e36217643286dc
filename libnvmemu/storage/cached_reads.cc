// SPDX-License-Identifier: Apache-2.0
// Reads that need nothing but the page cache, without its lock: most reads of a program whose files are
// cached, and nothing that takes a system call may be done for each of them.
#include "storage/file_pages.h"
#include "storage/shared_lock.h"
#include "storage/volume.h"

namespace nvmemu {

bool Volume::knows(const SharedLock& lock, const FileName& name, std::uint64_t size,
                   PageCache::File& file) noexcept {
  const std::uint32_t changes = lock.changes();
  const PageCache::File found = cache_->find(name);
  CachedFile& entry = cache_->file(found);
  if (found == 0 || entry.size != size || entry.is_retired != 0 || !lock.is_as_it_was(changes)) return false;
  if (entry.was_seen == 0) entry.was_seen = 1;
  file = found;
  return true;
}

bool Volume::read_cached(const SharedLock& lock, const FileName& name, const FileRange& range,
                         ReadStream& stream, std::uint64_t now_ns) noexcept {
  if (is_memory()) return false;
  const std::uint32_t changes = lock.changes(), first = page_of(range.offset), end = end_page(range);
  const CachedFile& entry = cache_->file(range.file);
  if (entry.name() != name || !cache_->glance(range.file, first, end)) return false;
  if (is_coming(entry, first, end) && entry.ahead_ready_ns > now_ns) return false;
  if (reads_ahead(stream, first)) {
    const PagesAhead ahead = ahead_of(entry, end, stream.times_ahead);
    if (!cache_->glance(range.file, ahead.first, ahead.end)) return false;
  }
  if (!lock.is_as_it_was(changes)) return false;
  tally().count_read(range.bytes);
  StorageTally::add(tally().hit_pages, end - first);
  stream.next_page = end;
  return true;
}

}  // namespace nvmemu
