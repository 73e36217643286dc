// SPDX-License-Identifier: Apache-2.0
// Interposed: what makes, copies and closes descriptors, but for open and its kin, which are with what shows
// nodes.
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>

#include "edge.h"
#include "storage/stored_call.h"

namespace nvmemu::preload {
namespace {

NVMEMU_HOOK(int, close, (int));
NVMEMU_HOOK(int, close_range, (unsigned, unsigned, int));
NVMEMU_HOOK(void, closefrom, (int));
NVMEMU_HOOK(int, dup, (int));
NVMEMU_HOOK(int, dup2, (int, int));
NVMEMU_HOOK(int, dup3, (int, int, int));
NVMEMU_HOOK(int, fcntl, (int, int, long));
NVMEMU_HOOK(int, creat, (const char*, mode_t));
NVMEMU_HOOK(int, mkostemps, (char*, int, int));

int copied(int from, int to) noexcept {
  if (to >= 0) process_storage().note_copied(from, to);
  return to;
}

// Of a C library that has not got the call: as the kernel says it.
int not_there() noexcept {
  errno = ENOSYS;
  return -1;
}

int created(int fd, int flags, const char* path) noexcept {
  if (fd < 0 || !process_storage().is_open()) return fd;
  const KeepErrno keep;
  process_storage().note_opened(fd, flags, {.path = path});
  return fd;
}

}  // namespace
}  // namespace nvmemu::preload

using namespace nvmemu::preload;

// Before: another thread may have the number right after.
NVMEMU_EXPORT int close(int fd) {
  this_thread().reach_edge(__builtin_return_address(0));
  process_storage().note_closed(fd);
  return real_close(fd);
}
NVMEMU_EXPORT int close_range(unsigned first, unsigned last, int flags) noexcept {
  constexpr int kOnExec = 1 << 2;  // CLOSE_RANGE_CLOEXEC
  if ((flags & kOnExec) == 0) process_storage().note_closed_from(first, last);
  return real_close_range.is_there() ? real_close_range(first, last, flags) : not_there();
}
NVMEMU_EXPORT void closefrom(int first) noexcept {
  process_storage().note_closed_from(first < 0 ? 0U : static_cast<unsigned>(first), ~0U);
  if (real_closefrom.is_there()) real_closefrom(first);
}

NVMEMU_EXPORT int dup(int fd) noexcept { return copied(fd, real_dup(fd)); }
NVMEMU_EXPORT int dup2(int from, int to) noexcept { return copied(from, real_dup2(from, to)); }
NVMEMU_EXPORT int dup3(int from, int to, int flags) noexcept {
  return copied(from, real_dup3(from, to, flags));
}

// <fcntl.h> declares them as variadic; a word more does no harm.
NVMEMU_EXPORT int interposed_fcntl(int fd, int command, long argument) __asm__("fcntl");
NVMEMU_EXPORT int interposed_fcntl64(int fd, int command, long argument) __asm__("fcntl64");

int interposed_fcntl(int fd, int command, long argument) {
  const int result = real_fcntl(fd, command, argument);
  if (command == F_SETFL && result == 0 && process_storage().find(fd) != nullptr) {
    const KeepErrno keep;
    process_storage().note_flags_changed(fd);
  }
  return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? copied(fd, result) : result;
}
int interposed_fcntl64(int fd, int command, long argument) { return interposed_fcntl(fd, command, argument); }

NVMEMU_EXPORT int creat(const char* path, mode_t mode) {
  return created(real_creat(path, mode), O_CREAT | O_TRUNC, path);
}
NVMEMU_EXPORT int creat64(const char* path, mode_t mode) { return creat(path, mode); }

NVMEMU_EXPORT int mkostemps(char* pattern, int suffix, int flags) {
  return created(real_mkostemps(pattern, suffix, flags), O_CREAT | O_EXCL | flags, pattern);
}
NVMEMU_EXPORT int mkstemp(char* pattern) { return mkostemps(pattern, 0, 0); }
NVMEMU_EXPORT int mkostemp(char* pattern, int flags) { return mkostemps(pattern, 0, flags); }
NVMEMU_EXPORT int mkstemps(char* pattern, int suffix) { return mkostemps(pattern, suffix, 0); }
NVMEMU_EXPORT int mkstemp64(char* pattern) { return mkostemps(pattern, 0, 0); }
NVMEMU_EXPORT int mkostemp64(char* pattern, int flags) { return mkostemps(pattern, 0, flags); }
NVMEMU_EXPORT int mkstemps64(char* pattern, int suffix) { return mkostemps(pattern, suffix, 0); }
NVMEMU_EXPORT int mkostemps64(char* pattern, int suffix, int flags) {
  return mkostemps(pattern, suffix, flags);
}
