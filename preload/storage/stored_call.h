// SPDX-License-Identifier: Apache-2.0
// Around calls on descriptors: what they would have taken on the run's storage.
#pragma once

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

// `call`: moves bytes from or to where `fd` stands, and the place with it.
template <typename Call>
ssize_t call_here(int fd, Moves moves, const Call& call) {
  StoredDescriptor* const descriptor = process_storage().find(fd);
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
ssize_t call_at(int fd, Moves moves, off_t offset, const Call& call) {
  if (offset < 0) return call_here(fd, moves, call);
  StoredDescriptor* const descriptor = process_storage().find(fd);
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
int call_and_note(int fd, const Call& call, const Note& note) {
  StoredDescriptor* const descriptor = process_storage().find(fd);
  if (descriptor == nullptr) [[likely]]
    return call();
  const std::uint64_t begin_ns = ProcessStorage::now_ns();
  const int result = call();
  if (result < 0) return result;
  const KeepErrno keep;
  note(*descriptor, begin_ns);
  return result;
}

}  // namespace nvmemu::preload
