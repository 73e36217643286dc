// SPDX-License-Identifier: Apache-2.0
// One folder's storage: when a call on a file below it is done. All that processes share of it is in its
// VolumeState and its page cache, in memory that they share; who calls holds the lock of both. Time is passed
// in. Async-signal-safe.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/watched.h"
#include "paging/device_model.h"
#include "storage/journal.h"
#include "storage/page_cache.h"
#include "storage/storage_device.h"
#include "storage/storage_tally.h"
#include "storage/write_back.h"

namespace nvmemu {

class SharedLock;

struct VolumeState {
  explicit VolumeState(const PageDevice& device) noexcept : model(device) {}

  DeviceModel model;
  Journal journal;
  WriteBack write_back;
  std::atomic<double> moving_until_ns[2] = {};  // bytes of memory, by PageOperation
  bool names_changed = false;                   // in a folder, since the last commit
  StorageTally tally{};
  // How often the flags of an open file have changed: others may have descriptors of it, copied by a fork.
  std::atomic<std::uint32_t> flag_changes{0};
  // How often a name that is no file's has moved: a path may mean another folder since.
  std::atomic<std::uint32_t> folder_moves{0};
  // Whether names elsewhere may be of files below a folder, or lead there: by links that were made, or files
  // that were moved.
  std::atomic<bool> names_cross{false};
};

// How a descriptor's reads go on: to tell a stream, and how far that is read ahead.
struct ReadStream {
  Watched<std::uint32_t> next_page = 0U;
  Watched<std::uint32_t> times_ahead = 1U;  // what the device's profile says, so many times
};

struct FileRange {
  PageCache::File file = 0;
  std::uint64_t offset = 0, bytes = 0;
};

enum class SyncKind : std::uint8_t { kAll, kData };

// What of a file is to be written back without a commit.
struct WriteBackCall {
  bool waits_before = false;  // for what is on its way already
  bool begins = false;
  bool waits_after = false;  // for all that is on its way then
};

// What becomes of a range for which a file has been given room, or has given it back.
enum class Allocation : std::uint8_t {
  kRoom,    // what is there stays
  kZeroed,  // what is there goes
  kMoved,   // and all that is behind it
};

class Volume {
 public:
  // `device` is this process's own copy: nothing that is shared says how a device is.
  Volume(const StorageDevice& device, VolumeState& state, PageCache& cache) noexcept
      : device_(&device), state_(&state), cache_(&cache) {}

  // When it is done, no earlier than `now_ns`. Whatever was really read or written, > 0 bytes.
  std::uint64_t read(const FileRange& range, ReadStream& stream, std::uint64_t now_ns) noexcept;
  std::uint64_t write(const FileRange& range, std::uint64_t now_ns) noexcept;
  // Likewise of memory (kDax), for whoever has not locked the volume: nothing but counts and a rate is
  // shared.
  static std::uint64_t read_memory(const StorageDevice& device, VolumeState& state, std::uint64_t bytes,
                                   std::uint64_t now_ns) noexcept;
  // Without the lock, which whoever has it tells of by `lock`. Whether all that is read is in the page cache
  // and nothing is to be asked of the device for it, which is counted then; and whether the file is known to
  // be so long. No: ask again with the lock.
  bool read_cached(const SharedLock& lock, const FileName& name, const FileRange& range, ReadStream& stream,
                   std::uint64_t now_ns) noexcept;
  bool knows(const SharedLock& lock, const FileName& name, std::uint64_t size,
             PageCache::File& file) noexcept;
  // Past the page cache.
  std::uint64_t read_directly(const FileRange& range, std::uint64_t now_ns) noexcept;
  std::uint64_t write_directly(const FileRange& range, std::uint64_t now_ns) noexcept;
  std::uint64_t sync(PageCache::File file, SyncKind kind, std::uint64_t now_ns) noexcept;
  // A folder's names; and all that is dirty.
  std::uint64_t sync_names(std::uint64_t now_ns) noexcept;
  std::uint64_t sync_all(std::uint64_t now_ns) noexcept;
  // Of one file, without a commit.
  std::uint64_t write_back(PageCache::File file, const WriteBackCall& call, std::uint64_t now_ns) noexcept;
  // Of one that is mapped: whoever stores to a mapping changes the file's times, and the pages that stores
  // have made dirty are not known.
  std::uint64_t sync_mapped(PageCache::File file, std::uint64_t now_ns) noexcept;

  // What a program says of a range, which nobody waits for: absent pages are read; those that are clean go,
  // and dirty ones are written back. No bytes: to the file's end.
  void will_need(const FileRange& range, std::uint64_t now_ns) noexcept;
  void will_not_need(const FileRange& range, std::uint64_t now_ns) noexcept;

  // `bytes`: how long the file is now.
  void allocate(const FileRange& range, Allocation allocation, std::uint64_t bytes) noexcept;
  void resize(PageCache::File file, std::uint64_t bytes) noexcept;
  void change_names() noexcept { state_->names_changed = true; }

  StorageTally& tally() noexcept { return state_->tally; }
  bool is_memory() const noexcept { return device_->mode == StorageMode::kDax; }
  // What one commit takes: of a block device two writes with a flush after each, as ext4's journal has it.
  double commit_ns() const noexcept;

 private:
  struct PagesAhead {
    std::uint32_t first = 0, end = 0;
  };

  // What is read ahead behind that page, as far as is known that there is something; nothing, before half of
  // what was is used.
  PagesAhead ahead_of(const CachedFile& entry, std::uint32_t end, std::uint32_t times) const noexcept;
  bool reads_ahead(const ReadStream& stream, std::uint32_t first) const noexcept;
  static bool is_coming(const CachedFile& entry, std::uint32_t first, std::uint32_t end) noexcept {
    return first < entry.ahead_end && end > entry.ahead_begin;
  }
  std::uint64_t request(PageOperation operation, const PageCache::Run& run, std::uint64_t now_ns,
                        bool is_sorted = false) noexcept;
  std::uint64_t fetch(const PageCache::Run& run, std::uint64_t now_ns) noexcept;
  std::uint64_t send(const PageCache::Run& run, std::uint64_t now_ns, bool is_sorted) noexcept;
  std::uint64_t bring(PageCache::File file, std::uint32_t first, std::uint32_t end,
                      std::uint64_t now_ns) noexcept;
  void read_ahead(PageCache::File file, std::uint32_t end, std::uint32_t times,
                  std::uint64_t now_ns) noexcept;
  std::uint64_t bring_edges(const FileRange& range, std::uint64_t now_ns) noexcept;
  void keep(PageCache::File file, std::uint32_t page, std::uint64_t now_ns) noexcept;
  std::uint64_t flush_some(std::uint64_t now_ns) noexcept;
  void note_written(const FileRange& range) noexcept;
  template <typename Clean>
  std::uint64_t send_each(const Clean& clean, std::uint64_t done_ns, std::uint64_t now_ns) noexcept;
  std::uint64_t send_dirty(PageCache::File file, std::uint64_t now_ns) noexcept;
  std::uint64_t commit(std::uint64_t now_ns, std::uint64_t ready_ns) noexcept;

  const StorageDevice* device_;
  VolumeState* state_;
  PageCache* cache_;
};

}  // namespace nvmemu
