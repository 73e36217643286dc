// SPDX-License-Identifier: Apache-2.0
// System calls on descriptors, by their numbers: what they would have taken on the run's storage.
#pragma once

#include <sys/syscall.h>

#include <algorithm>
#include <iterator>

#include "storage/stored_call.h"

namespace nvmemu::preload {

struct NumberedCall {
  long number;
  long words[6];
  int fd() const noexcept { return static_cast<int>(words[0]); }
};

// What moves bytes: in or out, and which of its words is the offset, and which are flags.
struct NumberedMove {
  long number;
  Moves moves;
  int offset;      // -1: there is none
  int flags = -1;  // likewise
};
inline constexpr NumberedMove kNumberedMoves[] = {
    {SYS_read, Moves::kIn, -1},        {SYS_readv, Moves::kIn, -1},     {SYS_pread64, Moves::kIn, 3},
    {SYS_preadv, Moves::kIn, 3},       {SYS_preadv2, Moves::kIn, 3, 5}, {SYS_write, Moves::kOut, -1},
    {SYS_writev, Moves::kOut, -1},     {SYS_pwrite64, Moves::kOut, 3},  {SYS_pwritev, Moves::kOut, 3},
    {SYS_pwritev2, Moves::kOut, 3, 5},
};
// And what else is charged, or changes a file's size.
inline constexpr long kNumberedFileCalls[] = {SYS_fsync,           SYS_fdatasync, SYS_syncfs,
                                              SYS_sync_file_range, SYS_ftruncate, SYS_fallocate,
                                              SYS_readahead,       SYS_fadvise64};

inline const NumberedMove* find_numbered_move(long number) noexcept {
  const auto* const found = std::ranges::find(kNumberedMoves, number, &NumberedMove::number);
  return found == std::end(kNumberedMoves) ? nullptr : found;
}

inline bool changes_flags(const NumberedCall& call) noexcept {
  return call.number == SYS_fcntl && call.words[1] == F_SETFL;
}

inline bool is_on_stored_file(const NumberedCall& call) noexcept {
  return find_numbered_move(call.number) != nullptr || changes_flags(call) ||
         std::ranges::find(kNumberedFileCalls, call.number) != std::end(kNumberedFileCalls);
}

// Before the call: the descriptors that it closes are none of ours any more.
inline void note_closing(const NumberedCall& call) noexcept {
  constexpr long kOnExec = 1 << 2;  // CLOSE_RANGE_CLOEXEC
  ProcessStorage& storage = process_storage();
  switch (call.number) {
    case SYS_close:
      return storage.note_closed(call.fd());
#if defined(SYS_dup2)  // arm64 has the newer one only
    case SYS_dup2:
#endif
    case SYS_dup3:
      return storage.note_closed(static_cast<int>(call.words[1]));
    case SYS_close_range:
      if ((call.words[2] & kOnExec) == 0)
        storage.note_closed_from(static_cast<unsigned>(call.words[0]), static_cast<unsigned>(call.words[1]));
      return;
    default:
      return;
  }
}

inline void note_numbered(const NumberedCall& call, StoredDescriptor& file, std::uint64_t begin_ns) noexcept {
  ProcessStorage& storage = process_storage();
  switch (call.number) {
    case SYS_fsync:
      return storage.on_sync(file, SyncKind::kAll, begin_ns);
    case SYS_fdatasync:
      return storage.on_sync(file, SyncKind::kData, begin_ns);
    case SYS_syncfs:
      return storage.on_sync_all(call.fd(), begin_ns);
    case SYS_sync_file_range:
      return note_written_back(file, static_cast<unsigned>(call.words[3]), begin_ns);
    case SYS_ftruncate:
      return note_size(file, call.words[1]);
    case SYS_fallocate:
      return note_allocated(call.fd(), file, static_cast<int>(call.words[1]),
                            part_of(call.words[2], call.words[3]));
    case SYS_readahead:
      if (call.words[2] > 0)
        storage.on_advice(file, part_of(call.words[1], call.words[2]), &Volume::will_need, begin_ns);
      return;
    case SYS_fadvise64:
      return note_advice(file, part_of(call.words[1], call.words[2]), static_cast<int>(call.words[3]),
                         begin_ns);
    case SYS_fcntl:
      return storage.note_flags_changed(call.fd());
    default:
      return;
  }
}

// `call` is_on_stored_file(), and `descriptor` its. `make()`: with the kernel's result, below 0 where it has
// failed.
template <typename Make>
long make_on_stored_file(StoredDescriptor& descriptor, const NumberedCall& call, const Make& make) {
  if (const NumberedMove* const move = find_numbered_move(call.number)) {
    if (move->offset < 0) return call_here(&descriptor, call.fd(), move->moves, make);
    const int flags = move->flags < 0 ? 0 : static_cast<int>(call.words[move->flags]);
    return call_at(&descriptor, call.fd(), move->moves, call.words[move->offset], make, flags);
  }
  return call_and_note(&descriptor, make, [&](StoredDescriptor& file, std::uint64_t begin_ns) {
    note_numbered(call, file, begin_ns);
  });
}

// One that the program makes by syscall(2), where there is storage: whether it was made, with the result as
// syscall(2) has it, by `make(call)`, or the function of its name. Else it is still to be made.
bool make_by_number(const NumberedCall& call, long (*make)(const NumberedCall&), long& result);

}  // namespace nvmemu::preload
