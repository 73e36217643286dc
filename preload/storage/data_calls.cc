// SPDX-License-Identifier: Apache-2.0
// Interposed: reads and writes. Those that may also be another thread's or process's doing are edges.
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include "edge.h"
#include "storage/copy_call.h"
#include "storage/stored_call.h"

// The interposed function NAME: `before` it, and what its `call` on `file` comes to.
#define NVMEMU_MOVING(before, moved, name, parameters, arguments)    \
  namespace nvmemu::preload {                                        \
  namespace {                                                        \
  NVMEMU_HOOK(ssize_t, name, parameters);                            \
  }                                                                  \
  }                                                                  \
  NVMEMU_EXPORT ssize_t name parameters {                            \
    using namespace nvmemu::preload;                                 \
    before;                                                          \
    StoredDescriptor* const file = process_storage().find_named(fd); \
    const auto call = [&] { return real_##name arguments; };         \
    return moved;                                                    \
  }                                                                  \
  static_assert(true, "")

// At the descriptor's place, which is an edge; and at a place that is given, which is none.
#define NVMEMU_MOVING_HERE(asked, moves, name, parameters, arguments)  \
  NVMEMU_MOVING(this_thread().reach_edge(__builtin_return_address(0)), \
                call_here(file, fd, Moves::moves, call, 0, asked), name, parameters, arguments)
#define NVMEMU_MOVING_AT(moves, name, parameters, arguments) \
  NVMEMU_MOVING_WITH(0, moves, name, parameters, arguments)
// `flags`: what pwritev2(2) is given.
#define NVMEMU_MOVING_WITH(flags, moves, name, parameters, arguments) \
  NVMEMU_MOVING(, call_at(file, fd, Moves::moves, offset, call, flags), name, parameters, arguments)

NVMEMU_MOVING_HERE(size, kIn, read, (int fd, void* to, size_t size), (fd, to, size));
NVMEMU_MOVING_HERE(0, kIn, readv, (int fd, const iovec* to, int count), (fd, to, count));
NVMEMU_MOVING_HERE(size, kIn, __read_chk, (int fd, void* to, size_t size, size_t room), (fd, to, size, room));
NVMEMU_MOVING_HERE(0, kOut, write, (int fd, const void* from, size_t size), (fd, from, size));
NVMEMU_MOVING_HERE(0, kOut, writev, (int fd, const iovec* from, int count), (fd, from, count));

NVMEMU_MOVING_AT(kIn, pread, (int fd, void* to, size_t size, off_t offset), (fd, to, size, offset));
NVMEMU_MOVING_AT(kIn, pread64, (int fd, void* to, size_t size, off64_t offset), (fd, to, size, offset));
NVMEMU_MOVING_AT(kIn, __pread_chk, (int fd, void* to, size_t size, off_t offset, size_t room),
                 (fd, to, size, offset, room));
NVMEMU_MOVING_AT(kIn, __pread64_chk, (int fd, void* to, size_t size, off64_t offset, size_t room),
                 (fd, to, size, offset, room));
NVMEMU_MOVING_AT(kIn, preadv, (int fd, const iovec* to, int count, off_t offset), (fd, to, count, offset));
NVMEMU_MOVING_AT(kIn, preadv64, (int fd, const iovec* to, int count, off64_t offset),
                 (fd, to, count, offset));
NVMEMU_MOVING_WITH(flags, kIn, preadv2, (int fd, const iovec* to, int count, off_t offset, int flags),
                   (fd, to, count, offset, flags));
NVMEMU_MOVING_WITH(flags, kIn, preadv64v2, (int fd, const iovec* to, int count, off64_t offset, int flags),
                   (fd, to, count, offset, flags));
NVMEMU_MOVING_AT(kOut, pwrite, (int fd, const void* from, size_t size, off_t offset),
                 (fd, from, size, offset));
NVMEMU_MOVING_AT(kOut, pwrite64, (int fd, const void* from, size_t size, off64_t offset),
                 (fd, from, size, offset));
NVMEMU_MOVING_AT(kOut, pwritev, (int fd, const iovec* from, int count, off_t offset),
                 (fd, from, count, offset));
NVMEMU_MOVING_AT(kOut, pwritev64, (int fd, const iovec* from, int count, off64_t offset),
                 (fd, from, count, offset));
NVMEMU_MOVING_WITH(flags, kOut, pwritev2, (int fd, const iovec* from, int count, off_t offset, int flags),
                   (fd, from, count, offset, flags));
NVMEMU_MOVING_WITH(flags, kOut, pwritev64v2,
                   (int fd, const iovec* from, int count, off64_t offset, int flags),
                   (fd, from, count, offset, flags));

// From one file to another.
namespace nvmemu::preload {
namespace {

NVMEMU_HOOK(ssize_t, sendfile, (int to, int from, off_t* offset, size_t size));
NVMEMU_HOOK(ssize_t, sendfile64, (int to, int from, off64_t* offset, size_t size));
NVMEMU_HOOK(ssize_t, splice,
            (int from, off64_t* from_at, int to, off64_t* to_at, size_t size, unsigned flags));
NVMEMU_HOOK(ssize_t, copy_file_range,
            (int from, off64_t* from_at, int to, off64_t* to_at, size_t size, unsigned flags));

template <typename Call>
ssize_t copy(int from, const off64_t* from_at, int to, const off64_t* to_at, const Call& call) {
  ProcessStorage& storage = process_storage();
  return call_between({from, from_at, storage.find_named(from)}, {to, to_at, storage.find_named(to)}, call,
                      [](const off64_t*) { return true; });
}

}  // namespace
}  // namespace nvmemu::preload

using namespace nvmemu::preload;

NVMEMU_EXPORT ssize_t sendfile(int to, int from, off_t* offset, size_t size) noexcept {
  this_thread().reach_edge(__builtin_return_address(0));
  return copy(from, offset, to, nullptr, [&] { return real_sendfile(to, from, offset, size); });
}
NVMEMU_EXPORT ssize_t sendfile64(int to, int from, off64_t* offset, size_t size) noexcept {
  this_thread().reach_edge(__builtin_return_address(0));
  return copy(from, offset, to, nullptr, [&] { return real_sendfile64(to, from, offset, size); });
}
NVMEMU_EXPORT ssize_t splice(int from, off64_t* from_at, int to, off64_t* to_at, size_t size,
                             unsigned flags) {
  this_thread().reach_edge(__builtin_return_address(0));
  return copy(from, from_at, to, to_at, [&] { return real_splice(from, from_at, to, to_at, size, flags); });
}
NVMEMU_EXPORT ssize_t copy_file_range(int from, off64_t* from_at, int to, off64_t* to_at, size_t size,
                                      unsigned flags) {
  return copy(from, from_at, to, to_at,
              [&] { return real_copy_file_range(from, from_at, to, to_at, size, flags); });
}
