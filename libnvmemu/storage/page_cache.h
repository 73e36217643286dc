// SPDX-License-Identifier: Apache-2.0
// Which pages of which files the page cache of a machine that is not there would hold, and which of them are
// dirty; least recently used go first. In memory that processes share: numbers instead of pointers, of which
// none is believed to be in range, and no walk to end by itself. Async-signal-safe; not thread-safe, but for
// find(), file() and glance(), whose answers hold where nobody has changed anything meanwhile (SharedLock).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/watched.h"

namespace nvmemu {

// A file on any file system.
struct FileName {
  std::uint64_t device = 0, inode = 0;
  bool operator==(const FileName&) const = default;
};

// What a cache knows of one. What who only looks needs of it is in one line of a processor's cache.
struct CachedFile {
  Watched<std::uint64_t> device, inode;           // its name
  Watched<std::uint64_t> size;                    // in bytes, as far as is known
  Watched<std::uint64_t> ahead_ready_ns;          // when what is being read ahead will be:
  Watched<std::uint32_t> ahead_begin, ahead_end;  // these pages
  Watched<std::uint32_t> was_seen;                // by who only looked, since it was last used
  Watched<std::uint32_t> is_retired;
  Watched<std::uint32_t> next_of_hash;      // a list by number, as those below
  Watched<std::uint32_t> pages, pages_end;  // how many are there, none of them from there on
  Watched<std::uint32_t> pages_were_seen;   // all of them, since one was last used
  std::uint64_t written_back_ns = 0;        // when what is being written back will be
  std::uint32_t changes = 0;                // since its last commit: FileChange bits
  std::uint32_t newer = 0, older = 0;
  std::uint32_t first_page = 0, first_dirty = 0, last_dirty = 0, dirty_pages = 0;
  std::uint32_t next_dirty_file = 0, previous_dirty_file = 0;
  std::uint32_t padding[5] = {};

  FileName name() const noexcept { return {device, inode}; }
  bool has_all_from_first() const noexcept { return pages == pages_end; }
};

static_assert(sizeof(CachedFile) % 64 == 0 && offsetof(CachedFile, pages_were_seen) < 64);

enum FileChange : std::uint32_t { kTimesChanged = 1, kSizeChanged = 2 };

class PageCache {
 public:
  using File = std::uint32_t;  // 0: none

  struct Evicted {
    File file = 0;  // 0: nothing was
    std::uint32_t page = 0;
    bool is_dirty = false;
  };
  struct Run {
    File file = 0;
    std::uint32_t first = 0, pages = 0;
  };

  static std::size_t bytes_for(std::uint32_t pages, std::uint32_t files) noexcept;

  // `memory`: so many bytes, all zero, or as a cache of the same size has left them.
  PageCache(void* memory, std::uint32_t pages, std::uint32_t files) noexcept;

  std::uint32_t capacity() const noexcept { return pages_most_; }
  std::uint32_t dirty_pages() const noexcept;
  void clear() noexcept;

  File find(const FileName& name) const noexcept;
  // Where there is no room, the one that was not used for longest goes, with its pages, dirty or not.
  File find_or_add(const FileName& name) noexcept;
  CachedFile& file(File file) noexcept { return files_[file <= files_most_ ? file : 0]; }
  // It is gone.
  void forget(File file) noexcept;
  // Its last name is gone: nobody but who has it open can use it, and nothing of it will be written back. Its
  // pages are the first to go, and a file that is opened by its number from now on is another.
  void retire(File file) noexcept;
  void renew(File file) noexcept;
  // A commit has taken what has changed of every file.
  void forget_changes() noexcept;

  // Whether the page is there; it is the most recently used then.
  bool touch(File file, std::uint32_t page) noexcept;
  // Likewise without the lock, of all of them; they get a second chance where they would have to go.
  bool glance(File file, std::uint32_t begin, std::uint32_t end) noexcept;
  // One that is not there.
  Evicted add(File file, std::uint32_t page) noexcept;
  // One that is.
  void make_dirty(File file, std::uint32_t page) noexcept;
  // Forgets its pages from this one on, dirty or not; up to an end, or those alone that are clean.
  static constexpr std::uint32_t kNoEnd = ~std::uint32_t{0};
  enum class Drops : std::uint8_t { kAll, kClean };
  void drop(File file, std::uint32_t from, std::uint32_t end = kNoEnd, Drops drops = Drops::kAll) noexcept;

  // The next pages side by side that are dirty, in the order in which they became so, at most `most`: clean
  // from now on. None: `pages` is 0. Of the file, or of whichever has been dirty for longest.
  Run clean_next(File file, std::uint32_t most) noexcept;
  Run clean_oldest(std::uint32_t most) noexcept;

 private:
  struct Head;
  struct Page;

  Page& page(std::uint32_t number) const noexcept;
  std::uint32_t find_page(File file, std::uint32_t page) const noexcept;
  std::uint32_t take_page(Evicted& evicted) noexcept;
  void link_between(std::uint32_t number, std::uint32_t newer, std::uint32_t older) noexcept;
  void link_newest(std::uint32_t number) noexcept;
  void link_oldest(std::uint32_t number) noexcept;
  void unlink(std::uint32_t number) noexcept;
  void link_dirty(std::uint32_t number) noexcept;
  void unlink_dirty(std::uint32_t number) noexcept;
  void clean(File file) noexcept;
  void link_dirty_file(File number) noexcept;
  void unlink_dirty_file(File number) noexcept;
  void remove(std::uint32_t number) noexcept;
  void tell_pages_they_were_seen(File file) noexcept;
  void unhash_page(std::uint32_t number) noexcept;
  void unhash_file(File file) noexcept;
  void use_file(File file) noexcept;
  Watched<std::uint32_t>& bucket_of(File file, std::uint32_t page) const noexcept;
  Watched<std::uint32_t>& bucket_of(const FileName& name) const noexcept;
  File oldest_file() noexcept;
  std::uint32_t oldest_page() noexcept;

  std::uint32_t pages_most_, files_most_;
  Head* head_;
  CachedFile* files_;  // from 1 on; 0: the list's ends
  Page* pages_;        // likewise
  Watched<std::uint32_t>* file_buckets_;
  Watched<std::uint32_t>* page_buckets_;
};

}  // namespace nvmemu
