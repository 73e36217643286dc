// SPDX-License-Identifier: Apache-2.0
// Around calls on descriptors: what they would have taken on the run's storage.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "base/raw_syscall.h"
#include "keep_errno.h"
#include "storage/process_storage.h"

namespace nvmemu::preload {

enum class Moves { kIn, kOut };

// `flags`: preadv2's and pwritev2's. Of a read none makes a difference to what it takes.
inline void note_moved(StoredDescriptor& descriptor, Moves moves, std::uint64_t offset, std::uint64_t bytes,
                       std::uint64_t begin_ns, int flags = 0) noexcept {
  if (moves == Moves::kIn) return process_storage().on_read(descriptor, offset, bytes, begin_ns);
  std::uint32_t asked = 0;
  if ((flags & RWF_DSYNC) != 0) asked |= StoredDescriptor::kDataSyncs;
  if ((flags & RWF_SYNC) != 0) asked |= StoredDescriptor::kSyncs;
  process_storage().on_write(descriptor, offset, bytes, begin_ns, asked);
}

// What a program is told by storage that is full or broken, and not of what it has asked wrongly.
inline void note_error(const StoredDescriptor& descriptor, int error) noexcept {
  if (error == ENOSPC || error == EDQUOT || error == EFBIG || error == EIO)
    process_storage().on_failed(descriptor);
}
// `result` is the C library's; the kernel's own where calls are trapped.
inline void note_failure(const StoredDescriptor& descriptor, long result) noexcept {
  if (result < 0)
    note_error(descriptor, process_storage().calls_are_trapped() ? static_cast<int>(-result) : errno);
}

// Where the descriptor stands; below 0: it is no file any more, since its number was given out again unseen.
inline long position_of(int fd) noexcept {
  const long position = raw_syscall(SYS_lseek, fd, 0, SEEK_CUR);
  if (is_error(position)) process_storage().note_closed(fd);
  return position;
}

// What was read is less than was `asked` for: it ends where the file does. Where that is the whole file, its
// place need not be asked for.
inline bool is_whole_file(StoredDescriptor& descriptor, ssize_t moved, std::size_t asked,
                          std::uint64_t begin_ns) noexcept {
  const auto bytes = static_cast<std::uint64_t>(moved);
  if (bytes >= asked || !process_storage().is_read_whole(descriptor, bytes, begin_ns)) return false;
  descriptor.told_position = bytes;
  return true;
}

// `call`: moves bytes from or to where `fd` stands, and the place with it. `descriptor`: its, or null.
// `asked`: to be read into one place; 0: that is not known.
template <typename Call>
ssize_t call_here(StoredDescriptor* descriptor, int fd, Moves moves, const Call& call, int flags = 0,
                  std::size_t asked = 0) {
  if (descriptor == nullptr) [[likely]]
    return call();
  const std::uint64_t begin_ns = ProcessStorage::now_ns();
  const ssize_t moved = call();
  if (moved <= 0) return note_failure(*descriptor, moved), moved;
  const KeepErrno keep;
  if (is_whole_file(*descriptor, moved, asked, begin_ns)) return moved;
  const long end = position_of(fd);
  if (end < moved) return moved;
  descriptor->told_position = static_cast<std::uint64_t>(end);
  note_moved(*descriptor, moves, static_cast<std::uint64_t>(end - moved), static_cast<std::uint64_t>(moved),
             begin_ns, flags);
  return moved;
}

// Linux appends, whatever the offset is.
inline bool is_appended(const StoredDescriptor& descriptor, Moves moves, int flags) noexcept {
  constexpr int kAppend = 0x10, kNoAppend = 0x20;  // RWF_APPEND, RWF_NOAPPEND: newer than some C libraries
  const bool appends = descriptor.is(StoredDescriptor::kAppends) || (flags & kAppend) != 0;
  return moves == Moves::kOut && appends && (flags & kNoAppend) == 0;
}

// The end of the file; below 0: it cannot be told.
inline long size_of(int fd) noexcept {
  struct stat status {};
  return is_error(raw_syscall(SYS_fstat, fd, &status)) ? -1 : status.st_size;
}

// Likewise at `offset`; -1, as preadv2(2) has it: here.
template <typename Call>
ssize_t call_at(StoredDescriptor* descriptor, int fd, Moves moves, off_t offset, const Call& call,
                int flags = 0) {
  if (offset < 0) return call_here(descriptor, fd, moves, call, flags);
  if (descriptor == nullptr) [[likely]]
    return call();
  const std::uint64_t begin_ns = ProcessStorage::now_ns();
  const ssize_t moved = call();
  if (moved <= 0) return note_failure(*descriptor, moved), moved;
  const KeepErrno keep;
  if (is_appended(*descriptor, moves, flags)) offset = std::max(size_of(fd) - moved, 0L);
  note_moved(*descriptor, moves, static_cast<std::uint64_t>(offset), static_cast<std::uint64_t>(moved),
             begin_ns, flags);
  return moved;
}

// The file itself: `note` tells of it where `call` has succeeded.
template <typename Call, typename Note>
auto call_and_note(StoredDescriptor* descriptor, const Call& call, const Note& note) {
  if (descriptor == nullptr) [[likely]]
    return call();
  const std::uint64_t begin_ns = ProcessStorage::now_ns();
  const auto result = call();
  if (result < 0) return note_failure(*descriptor, result), result;
  const KeepErrno keep;
  note(*descriptor, begin_ns);
  return result;
}

// What follows from a call on a file that has succeeded.
inline void note_size(StoredDescriptor& descriptor, long bytes) noexcept {
  process_storage().on_resized(descriptor, static_cast<std::uint64_t>(bytes));
}
// By fallocate(2), as far as the kernel says.
inline void note_allocated(int fd, StoredDescriptor& descriptor, int mode, const FilePart& part) noexcept {
  constexpr int kZeroes = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE;
  constexpr int kMoves = FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE;
  const Allocation allocation = (mode & kMoves) != 0    ? Allocation::kMoved
                                : (mode & kZeroes) != 0 ? Allocation::kZeroed
                                                        : Allocation::kRoom;
  if (const long size = size_of(fd); size >= 0)
    process_storage().on_allocated(descriptor, part, allocation, static_cast<std::uint64_t>(size));
}
inline void note_written_back(StoredDescriptor& descriptor, unsigned flags, std::uint64_t begin_ns) noexcept {
  const WriteBackCall call{.waits_before = (flags & SYNC_FILE_RANGE_WAIT_BEFORE) != 0,
                           .begins = (flags & SYNC_FILE_RANGE_WRITE) != 0,
                           .waits_after = (flags & SYNC_FILE_RANGE_WAIT_AFTER) != 0};
  process_storage().on_write_back(descriptor, call, begin_ns);
}
// posix_fadvise(2), whose advice has succeeded.
inline void note_advice(StoredDescriptor& descriptor, const FilePart& part, int advice,
                        std::uint64_t begin_ns) noexcept {
  switch (advice) {
    case POSIX_FADV_NORMAL:
      descriptor.stream.times_ahead = 1;
      return;
    case POSIX_FADV_SEQUENTIAL:
      descriptor.stream.times_ahead = 2;
      return;
    case POSIX_FADV_RANDOM:
      descriptor.stream.times_ahead = 0;
      return;
    case POSIX_FADV_WILLNEED:
      return process_storage().on_advice(descriptor, part, &Volume::will_need, begin_ns);
    case POSIX_FADV_DONTNEED:
      return process_storage().on_advice(descriptor, part, &Volume::will_not_need, begin_ns);
    default:
      return;
  }
}
inline FilePart part_of(long offset, long bytes) noexcept {
  return {static_cast<std::uint64_t>(offset), static_cast<std::uint64_t>(bytes)};
}

}  // namespace nvmemu::preload
