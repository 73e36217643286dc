// SPDX-License-Identifier: Apache-2.0
// Interposed: POSIX aio. The C library's own threads make its calls, unseen; so that what is charged is the
// request: it is told to be done when it is, and when the storage would be done with it, too. As in the C
// library, those of one descriptor are served one after the other. Where system calls are trapped, its
// threads' are, and here is nothing to be done.
//
// Where a thread is to tell the program of a request's end, it is made to wait for the storage first; signals
// are sent in the C library's place (AioTeller).
#include <aio.h>
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "device_wait.h"
#include "edge.h"
#include "storage/aio_mark.h"
#include "storage/aio_requests.h"
#include "storage/aio_teller.h"
#include "storage/stored_call.h"

namespace nvmemu::preload {
namespace {

NVMEMU_HOOK(int, aio_read, (aiocb*));
NVMEMU_HOOK(int, aio_write, (aiocb*));
NVMEMU_HOOK(int, aio_fsync, (int, aiocb*));
NVMEMU_HOOK(ssize_t, aio_return, (aiocb*));
NVMEMU_HOOK(int, aio_cancel, (int, aiocb*));

template <typename Submit>
int submit(aiocb* request, Request kind, const Submit& call) {
  StoredDescriptor* const descriptor = prepare(request, kind);
  if (descriptor == nullptr) [[likely]]
    return call();
  const std::uint64_t begin_ns = ProcessStorage::now_ns();
  const int result = call();
  const KeepErrno keep;
  if (result == 0) {
    charge(request, *descriptor, kind, begin_ns);
  } else {
    note_not_made(request);
  }
  return result;
}

int error_of(const aiocb* request) noexcept {
  const int error = librarys_error(request);
  return is_still_served(request, error, ProcessStorage::now_ns()) ? EINPROGRESS : error;
}

// A write is charged before it is known how much of it goes in. Its place in the C library's list tells what
// it was.
void take_back_unwritten(const aiocb* request, int error) noexcept {
  constexpr int kOperation = 127;
  if ((request->aio_lio_opcode & kOperation) != LIO_WRITE) return;
  StoredDescriptor* const descriptor = process_storage().find_named(request->aio_fildes);
  const ssize_t written = error == 0 ? real_aio_return(const_cast<aiocb*>(request)) : 0;
  if (descriptor == nullptr || written < 0 || static_cast<std::size_t>(written) >= request->aio_nbytes)
    return;
  note_error(*descriptor, error);
  const long size = size_of(request->aio_fildes);
  if (size < 0) return;
  process_storage().on_unwritten(*descriptor, request->aio_nbytes - static_cast<std::size_t>(written),
                                 written == 0, static_cast<std::uint64_t>(size));
}

}  // namespace
}  // namespace nvmemu::preload

using namespace nvmemu::preload;

NVMEMU_EXPORT int aio_read(aiocb* request) noexcept {
  return submit(request, Request::kRead, [&] { return real_aio_read(request); });
}
NVMEMU_EXPORT int aio_write(aiocb* request) noexcept {
  this_thread().reach_edge(__builtin_return_address(0));
  return submit(request, Request::kWrite, [&] { return real_aio_write(request); });
}
NVMEMU_EXPORT int aio_fsync(int operation, aiocb* request) noexcept {
  return submit(request, operation == O_DSYNC ? Request::kDataSync : Request::kSync,
                [&] { return real_aio_fsync(operation, request); });
}

NVMEMU_EXPORT int aio_error(const aiocb* request) noexcept {
  return process_storage().is_open() ? error_of(request) : librarys_error(request);
}
// Of one that is not done yet, what comes is not defined: it is none of the storage's.
NVMEMU_EXPORT ssize_t aio_return(aiocb* request) noexcept {
  if (process_storage().is_open()) {
    const std::uint64_t done_ns = done_ns_of(request);
    const KeepErrno keep;
    const int error = done_ns == 0 || done_ns == kNever ? EINPROGRESS : librarys_error(request);
    if (error == 0) sleep_until(done_ns);
    if (error != EINPROGRESS) take_back_unwritten(request, error);
    if (!is_to_be_told(request)) unmark(request);
  }
  return real_aio_return(request);
}
NVMEMU_EXPORT int aio_cancel(int fd, aiocb* request) noexcept {
  const int result = real_aio_cancel(fd, request);
  if (result != AIO_ALLDONE && process_storage().is_open()) aio_teller().tell_of_cancelled();
  if (result != AIO_ALLDONE || !process_storage().is_open()) return result;
  const std::uint64_t now_ns = ProcessStorage::now_ns();
  if (request != nullptr) return error_of(request) == EINPROGRESS ? AIO_NOTCANCELED : result;
  const StoredDescriptor* const descriptor = process_storage().find_named(fd);
  const bool is_served = descriptor != nullptr && descriptor->requests_done_ns.load() > now_ns;
  return is_served ? AIO_NOTCANCELED : result;
}

// Of 64 bits each is the same, but for its name.
static_assert(sizeof(aiocb) == sizeof(aiocb64));
NVMEMU_EXPORT int aio_read64(aiocb64* request) noexcept {
  return aio_read(reinterpret_cast<aiocb*>(request));
}
NVMEMU_EXPORT int aio_write64(aiocb64* request) noexcept {
  return aio_write(reinterpret_cast<aiocb*>(request));
}
NVMEMU_EXPORT int aio_fsync64(int operation, aiocb64* request) noexcept {
  return aio_fsync(operation, reinterpret_cast<aiocb*>(request));
}
NVMEMU_EXPORT int aio_error64(const aiocb64* request) noexcept {
  return aio_error(reinterpret_cast<const aiocb*>(request));
}
NVMEMU_EXPORT ssize_t aio_return64(aiocb64* request) noexcept {
  return aio_return(reinterpret_cast<aiocb*>(request));
}
NVMEMU_EXPORT int aio_cancel64(int fd, aiocb64* request) noexcept {
  return aio_cancel(fd, reinterpret_cast<aiocb*>(request));
}
