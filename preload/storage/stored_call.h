// SPDX-License-Identifier: Apache-2.0
// Around calls on descriptors: what they would have taken on the run's storage.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdint>

#include "base/raw_syscall.h"
#include "keep_errno.h"
#include "storage/process_storage.h"

namespace nvmemu::preload {

enum class Moves { kIn, kOut };

inline void note_moved(StoredDescriptor& descriptor, Moves moves, std::uint64_t offset, std::uint64_t bytes,
                       std::uint64_t begin_ns) noexcept {
  if (moves == Moves::kIn)
    process_storage().on_read(descriptor, offset, bytes, begin_ns);
  else
    process_storage().on_write(descriptor, offset, bytes, begin_ns);
}

// Where the descriptor stands; below 0: it is no file any more, since its number was given out again unseen.
inline long position_of(int fd) noexcept {
  const long position = raw_syscall(SYS_lseek, fd, 0, SEEK_CUR);
  if (is_error(position)) process_storage().note_closed(fd);
  return position;
}

// `call`: moves bytes from or to where `fd` stands, and the place with it. `descriptor`: its, or null.
template <typename Call>
ssize_t call_here(StoredDescriptor* descriptor, int fd, Moves moves, const Call& call) {
  if (descriptor == nullptr) [[likely]]
    return call();
  const std::uint64_t begin_ns = ProcessStorage::now_ns();
  const ssize_t moved = call();
  if (moved <= 0) return moved;
  const KeepErrno keep;
  const long end = position_of(fd);
  if (end < moved) return moved;
  descriptor->told_position = static_cast<std::uint64_t>(end);
  note_moved(*descriptor, moves, static_cast<std::uint64_t>(end - moved), static_cast<std::uint64_t>(moved),
             begin_ns);
  return moved;
}

// Likewise at `offset`; -1, as preadv2(2) has it: here.
template <typename Call>
ssize_t call_at(StoredDescriptor* descriptor, int fd, Moves moves, off_t offset, const Call& call) {
  if (offset < 0) return call_here(descriptor, fd, moves, call);
  if (descriptor == nullptr) [[likely]]
    return call();
  const std::uint64_t begin_ns = ProcessStorage::now_ns();
  const ssize_t moved = call();
  if (moved <= 0) return moved;
  const KeepErrno keep;
  note_moved(*descriptor, moves, static_cast<std::uint64_t>(offset), static_cast<std::uint64_t>(moved),
             begin_ns);
  return moved;
}

// The file itself: `note` tells of it where `call` has succeeded.
template <typename Call, typename Note>
auto call_and_note(StoredDescriptor* descriptor, const Call& call, const Note& note) {
  if (descriptor == nullptr) [[likely]]
    return call();
  const std::uint64_t begin_ns = ProcessStorage::now_ns();
  const auto result = call();
  if (result < 0) return result;
  const KeepErrno keep;
  note(*descriptor, begin_ns);
  return result;
}

// What follows from a call on a file that has succeeded.
inline void note_size(StoredDescriptor& descriptor, long bytes) noexcept {
  process_storage().on_resized(descriptor, static_cast<std::uint64_t>(bytes));
}
// Grown by an allocation, as far as the kernel says.
inline void note_grown(int fd, StoredDescriptor& descriptor) noexcept {
  struct stat status {};
  if (!is_error(raw_syscall(SYS_fstat, fd, &status))) note_size(descriptor, status.st_size);
}
inline void note_written_back(StoredDescriptor& descriptor, unsigned flags, std::uint64_t begin_ns) noexcept {
  const bool waits = (flags & SYNC_FILE_RANGE_WAIT_AFTER) != 0;
  process_storage().on_write_back(descriptor, waits ? begin_ns : 0);
}

}  // namespace nvmemu::preload
