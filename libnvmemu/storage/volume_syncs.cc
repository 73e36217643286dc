// SPDX-License-Identifier: Apache-2.0
// What makes files durable: dirty pages as requests, commits, flushes.
#include <algorithm>

#include "storage/file_pages.h"
#include "storage/volume.h"

namespace nvmemu {

double Volume::commit_ns() const noexcept {
  if (device_->mode != StorageMode::kBlock) return device_->commit_ns;
  constexpr double kUsual = 0.5;
  const PageDevice& device = device_->device;
  const double moves_ns = transfer_ns(static_cast<double>(kPageBytes), device.write_bps);
  return 2 * (device.write.at(kUsual) + moves_ns + device.flush_ns);
}

// `clean` takes the next run, until there is none: when all are there, no earlier than `done_ns`. As they lie
// in their file, one after the other.
template <typename Clean>
std::uint64_t Volume::send_each(const Clean& clean, std::uint64_t done_ns, std::uint64_t now_ns) noexcept {
  for (std::uint32_t n = 0; n <= cache_->capacity(); ++n) {
    const PageCache::Run run = clean();
    if (run.pages == 0) break;
    done_ns = std::max(done_ns, request(PageOperation::kWrite, run, now_ns, true));
  }
  return done_ns;
}

std::uint64_t Volume::send_dirty(PageCache::File file, std::uint64_t now_ns) noexcept {
  return send_each([&] { return cache_->clean_next(file, kBatchPages); },
                   std::max(now_ns, cache_->file(file).written_back_ns), now_ns);
}

std::uint64_t Volume::write_back(PageCache::File file, const WriteBackCall& call,
                                 std::uint64_t now_ns) noexcept {
  if (is_memory()) return now_ns;
  CachedFile& entry = cache_->file(file);
  const std::uint64_t before_ns = entry.written_back_ns;
  if (call.begins) entry.written_back_ns = send_dirty(file, now_ns);
  std::uint64_t done_ns = now_ns;
  if (call.waits_before) done_ns = std::max(done_ns, before_ns);
  if (call.waits_after) done_ns = std::max(done_ns, entry.written_back_ns);
  return done_ns;
}

// Of what is asked for at `now_ns` and is ready to be committed at `ready_ns`: one at a time, for all who
// come before it begins.
std::uint64_t Volume::commit(std::uint64_t now_ns, std::uint64_t ready_ns) noexcept {
  // Memory's and a mapped file's take each caller's own processor.
  if (device_->mode != StorageMode::kBlock) {
    StorageTally::add(tally().commits, 1);
    return ready_ns + static_cast<std::uint64_t>(commit_ns());
  }
  Journal& journal = state_->journal;
  if (journal.is_to_begin(now_ns)) {
    StorageTally::add(tally().shared_commits, 1);
    return std::max(journal.end_ns(), ready_ns);
  }
  StorageTally::add(tally().commits, 1);
  const std::uint64_t begin_ns = std::max(ready_ns, journal.end_ns());
  journal.begin(begin_ns, state_->model.take_two_steps(begin_ns, commit_ns() / 2));
  return journal.end_ns();
}

// The data, then the journal: a device's flush is in its commit.
std::uint64_t Volume::sync(PageCache::File file, SyncKind kind, std::uint64_t now_ns) noexcept {
  StorageTally::add(tally().syncs, 1);
  CachedFile& entry = cache_->file(file);
  const std::uint32_t counts = kind == SyncKind::kAll ? kTimesChanged | kSizeChanged : kSizeChanged;
  const bool commits = (entry.changes & counts) != 0;
  if (commits) entry.changes = 0;
  if (device_->mode != StorageMode::kBlock) return commit(now_ns, now_ns);
  const bool had_data = entry.dirty_pages > 0 || entry.written_back_ns > now_ns;
  const std::uint64_t ready_ns = send_dirty(file, now_ns);
  if (commits) return commit(now_ns, ready_ns);
  return had_data || kind == SyncKind::kData ? state_->model.flush(ready_ns) : ready_ns;
}

std::uint64_t Volume::sync_mapped(PageCache::File file, std::uint64_t now_ns) noexcept {
  cache_->file(file).changes |= kTimesChanged;
  return sync(file, SyncKind::kAll, now_ns);
}

std::uint64_t Volume::sync_names(std::uint64_t now_ns) noexcept {
  StorageTally::add(tally().syncs, 1);
  if (!state_->names_changed) return now_ns;
  state_->names_changed = false;
  return commit(now_ns, now_ns);
}

std::uint64_t Volume::sync_all(std::uint64_t now_ns) noexcept {
  StorageTally::add(tally().syncs, 1);
  state_->names_changed = false;
  cache_->forget_changes();
  if (device_->mode != StorageMode::kBlock) return commit(now_ns, now_ns);
  const std::uint64_t done_ns = send_each([&] { return cache_->clean_oldest(kBatchPages); },
                                          std::max(now_ns, state_->write_back.last_done_ns()), now_ns);
  return commit(now_ns, done_ns);
}

}  // namespace nvmemu
