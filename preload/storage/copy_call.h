// SPDX-License-Identifier: Apache-2.0
// Around calls that move bytes from one descriptor to another: each side is what a read or a write there
// would be.
#pragma once

#include <sys/syscall.h>

#include <algorithm>
#include <iterator>

#include "storage/stored_call.h"

namespace nvmemu::preload {

// `at`: where the kernel tells how far it has come; null: where the descriptor stands.
struct CopySide {
  int fd;
  const off64_t* at;
  StoredDescriptor* descriptor;  // null: none of ours
};

// The kernel has written to what `at` points to, if it has moved anything; and nobody has read it before.
inline void note_side(const CopySide& side, Moves moves, ssize_t moved, std::uint64_t begin_ns) noexcept {
  if (side.descriptor == nullptr) return;
  const long end = side.at != nullptr ? *side.at : position_of(side.fd);
  if (end < moved) return;
  if (side.at == nullptr) side.descriptor->told_position = static_cast<std::uint64_t>(end);
  note_moved(*side.descriptor, moves, static_cast<std::uint64_t>(end - moved),
             static_cast<std::uint64_t>(moved), begin_ns);
}

// `can_read(at)`: whether that can be read here and now.
template <typename Call, typename CanRead>
ssize_t call_between(const CopySide& from, const CopySide& to, const Call& call, const CanRead& can_read) {
  if (from.descriptor == nullptr && to.descriptor == nullptr) [[likely]]
    return call();
  const std::uint64_t begin_ns = ProcessStorage::now_ns();
  const ssize_t moved = call();
  if (moved <= 0)
    return note_failure(to.descriptor != nullptr ? *to.descriptor : *from.descriptor, moved), moved;
  const KeepErrno keep;
  if (from.at == nullptr || can_read(from.at)) note_side(from, Moves::kIn, moved, begin_ns);
  if (to.at == nullptr || can_read(to.at)) note_side(to, Moves::kOut, moved, begin_ns);
  return moved;
}

// By its number: which of its words are the descriptors, and what tells places; -1: nothing does.
struct NumberedCopy {
  long number;
  int from, from_at, to, to_at;
};
inline constexpr NumberedCopy kNumberedCopies[] = {
    {SYS_sendfile, 1, 2, 0, -1}, {SYS_splice, 0, 1, 2, 3}, {SYS_copy_file_range, 0, 1, 2, 3}};

inline const NumberedCopy* find_numbered_copy(long number) noexcept {
  const auto* const found = std::ranges::find(kNumberedCopies, number, &NumberedCopy::number);
  return found == std::end(kNumberedCopies) ? nullptr : found;
}

// `find(fd)`: the descriptor, or null. `words`: the call's.
template <typename Find>
CopySide side_of(const long* words, int fd_word, int at_word, const Find& find) noexcept {
  const auto fd = static_cast<int>(words[fd_word]);
  return {fd, at_word < 0 ? nullptr : reinterpret_cast<const off64_t*>(words[at_word]), find(fd)};
}

}  // namespace nvmemu::preload
