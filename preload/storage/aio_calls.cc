// SPDX-License-Identifier: Apache-2.0
// Interposed: POSIX aio. The C library's own threads make its calls, unseen; so that what is charged is the
// request: it is told to be done when it is, and when the storage would be done with it, too. As in the C
// library, those of one descriptor are served one after the other. Where system calls are trapped, its
// threads' are, and here is nothing to be done.
//
// Where a thread is to tell the program of a request's end, it is made to wait for the storage first; signals
// are sent in the C library's place (AioTeller). Of what tells of a whole list nobody can say when it comes:
// its requests are not charged.
#include <aio.h>
#include <fcntl.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <span>

#include "base/timespec.h"
#include "edge.h"
#include "storage/aio_mark.h"
#include "storage/aio_teller.h"
#include "storage/device_wait.h"
#include "storage/stored_call.h"

namespace nvmemu::preload {
namespace {

NVMEMU_HOOK(int, aio_read, (aiocb*));
NVMEMU_HOOK(int, aio_write, (aiocb*));
NVMEMU_HOOK(int, aio_fsync, (int, aiocb*));
NVMEMU_HOOK(int, aio_error, (const aiocb*));
NVMEMU_HOOK(ssize_t, aio_return, (aiocb*));
NVMEMU_HOOK(int, aio_suspend, (const aiocb* const*, int, const timespec*));
NVMEMU_HOOK(int, aio_cancel, (int, aiocb*));
NVMEMU_HOOK(int, lio_listio, (int, aiocb* const*, int, sigevent*));
NVMEMU_HOOK(int, nanosleep, (const timespec*, timespec*));

using Request = ProcessStorage::Request;

bool tells(const sigevent& event) noexcept { return event.sigev_notify != SIGEV_NONE; }
bool is_told_by_thread(const sigevent& event) noexcept {
  return event.sigev_notify == SIGEV_THREAD && event.sigev_notify_function != nullptr;
}

// In the thread that the C library has made to tell. What has failed, or was cancelled, is told at once.
void tell_when_done(sigval of_request) {
  auto* const request = static_cast<aiocb*>(of_request.sival_ptr);
  const Mark mark = *place_of(request);
  // By then who has asked has done with it, which may be the program's to free.
  constexpr std::uint64_t kLookAgainNs = 50'000;
  while (done_ns_of(request) == kNever) sleep_until(ProcessStorage::now_ns() + kLookAgainNs);
  if (real_aio_error(request) == 0) sleep_until(done_ns_of(request));
  give_back(request, mark);
  mark.tell(mark.value);
}

void tell_later(aiocb* request) noexcept {
  Mark& mark = *place_of(request);
  mark.tell = request->aio_sigevent.sigev_notify_function;
  mark.value = request->aio_sigevent.sigev_value;
  request->aio_sigevent.sigev_notify_function = &tell_when_done;
  request->aio_sigevent.sigev_value.sival_ptr = request;
}

// Else it will fail when a thread of the C library's comes to it.
bool can_be_made(int fd, Request kind) noexcept {
  const long flags = raw_syscall(SYS_fcntl, fd, F_GETFL);
  if (is_error(flags)) return false;
  const long access = flags & O_ACCMODE;
  return !(kind == Request::kRead && access == O_WRONLY) && !(kind == Request::kWrite && access == O_RDONLY);
}

// Of a request that is about to be made: what is charged for it, or null.
StoredDescriptor* prepare(aiocb* request, Request kind, bool is_in_told_list) noexcept {
  ProcessStorage& storage = process_storage();
  if (!storage.is_open()) return nullptr;
  unmark(request);
  StoredDescriptor* const descriptor = storage.find_named(request->aio_fildes);
  if (descriptor == nullptr || !can_be_made(request->aio_fildes, kind)) return nullptr;
  const bool by_thread = is_told_by_thread(request->aio_sigevent);
  const bool by_signal = request->aio_sigevent.sigev_notify == SIGEV_SIGNAL;
  mark(request);
  if (is_in_told_list || (tells(request->aio_sigevent) && !by_thread && !by_signal) ||
      (by_signal && !aio_teller().add(request))) {
    unmark(request);
    storage.on_told_request(*descriptor);
    return nullptr;
  }
  if (by_thread) tell_later(request);
  return descriptor;
}

// Nobody tells of it.
void note_not_made(aiocb* request) noexcept {
  if (is_to_be_signalled(request)) {
    aio_teller().remove(request);
  } else if (is_to_be_told(request)) {
    give_back(request, *place_of(request));
  }
  unmark(request);
}

void charge(aiocb* request, StoredDescriptor& descriptor, Request kind, std::uint64_t begin_ns) noexcept {
  const auto offset = static_cast<std::uint64_t>(std::max<off_t>(request->aio_offset, 0));
  set_done(request,
           process_storage().on_request_in_turn(
               descriptor, {.kind = kind, .offset = offset, .bytes = request->aio_nbytes}, begin_ns));
}

template <typename Submit>
int submit(aiocb* request, Request kind, const Submit& call) {
  StoredDescriptor* const descriptor = prepare(request, kind, false);
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

// By the storage, or by whoever is to tell of it, whose control block it is until then. What has failed is
// not waited for, and of what was cancelled the program knows.
bool is_still_served(const aiocb* request, int error, std::uint64_t now_ns) noexcept {
  if (error == EINPROGRESS || error == ECANCELED) return false;
  return is_to_be_told(request) || (error == 0 && done_ns_of(request) > now_ns);
}

int error_of(const aiocb* request) noexcept {
  const int error = real_aio_error(request);
  return is_still_served(request, error, ProcessStorage::now_ns()) ? EINPROGRESS : error;
}

// How a list of requests stands.
struct Standing {
  static constexpr std::size_t kMost = 64;
  bool is_one_done = false;
  std::uint64_t first_done_ns = kNever;  // of those that are with the storage
  std::array<const aiocb*, kMost> at_work{};
  int count = 0;  // of those that are with the C library
  bool are_more = false;
};

Standing look_at(std::span<const aiocb* const> requests, std::uint64_t now_ns) noexcept {
  Standing standing;
  for (const aiocb* const request : requests) {
    if (request == nullptr) continue;
    const int error = real_aio_error(request);
    if (error == EINPROGRESS) {
      standing.are_more |= standing.count == Standing::kMost;
      if (!standing.are_more) standing.at_work[static_cast<std::size_t>(standing.count++)] = request;
    } else if (is_still_served(request, error, now_ns)) {
      standing.first_done_ns = std::min(standing.first_done_ns, done_ns_of(request));
    } else {
      standing.is_one_done = true;
    }
  }
  return standing;
}

// Unlike a call that waits for a disk, it ends when a signal comes. 0, or -1 with EINTR.
int sleep_for_requests(std::uint64_t now_ns, std::uint64_t until_ns) {
  constexpr std::uint64_t kSpunNs = 300'000;
  if (until_ns - now_ns <= kSpunNs) return sleep_until(until_ns), 0;
  const timespec time = timespec_of(until_ns - now_ns - kSpunNs);
  return real_nanosleep(&time, nullptr);
}

// For the first of what may come next.
int wait_for_some(const Standing& standing, std::uint64_t now_ns, std::uint64_t limit_ns) {
  constexpr std::uint64_t kLookAgainNs = 1'000'000, kSoonNs = 100'000;
  // What is done, and not told of yet, is about to be.
  const std::uint64_t first_ns = std::max(standing.first_done_ns, now_ns + kSoonNs);
  std::uint64_t until_ns = std::min(first_ns, limit_ns);
  const bool is_about_to_be_known = standing.first_done_ns == kNever && standing.count == 0;
  if (standing.are_more || is_about_to_be_known) until_ns = std::min(until_ns, now_ns + kLookAgainNs);
  if (standing.count == 0) return sleep_for_requests(now_ns, until_ns);
  const timespec time = timespec_of(until_ns - now_ns);
  const int result =
      real_aio_suspend(standing.at_work.data(), standing.count, until_ns == kNever ? nullptr : &time);
  return result != 0 && errno == EAGAIN ? 0 : result;
}

int suspend(std::span<const aiocb* const> requests, const timespec* timeout) {
  const std::uint64_t begin_ns = ProcessStorage::now_ns();
  std::uint64_t limit_ns = kNever;
  if (timeout != nullptr) limit_ns = begin_ns + ns_of(*timeout);
  for (;;) {
    const std::uint64_t now_ns = ProcessStorage::now_ns();
    const Standing standing = look_at(requests, now_ns);
    if (standing.is_one_done) return 0;
    if (now_ns >= limit_ns) return errno = EAGAIN, -1;
    if (const int result = wait_for_some(standing, now_ns, limit_ns); result != 0) return result;
  }
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

bool is_any_charged(std::span<const aiocb* const> requests) noexcept {
  return std::ranges::any_of(
      requests, [](const aiocb* request) { return request != nullptr && done_ns_of(request) != 0; });
}

Request kind_of(const aiocb* request) noexcept {
  return request->aio_lio_opcode == LIO_READ ? Request::kRead : Request::kWrite;
}

bool moves_bytes(const aiocb* request) noexcept {
  return request != nullptr && (request->aio_lio_opcode == LIO_READ || request->aio_lio_opcode == LIO_WRITE);
}

// By the C library, which has set this error.
bool was_refused(const aiocb* request, int error) noexcept {
  constexpr int kMostBelow = 20;  // AIO_PRIO_DELTA_MAX
  return error == EAGAIN || request->aio_reqprio < 0 || request->aio_reqprio > kMostBelow;
}

// Those of the list that were made, and are charged; when all are done.
std::uint64_t charge_list(std::span<aiocb* const> requests, std::uint64_t begin_ns) noexcept {
  std::uint64_t done_ns = 0;
  for (aiocb* const request : requests) {
    if (!moves_bytes(request) || done_ns_of(request) != kNever) continue;
    StoredDescriptor* const descriptor = process_storage().find_named(request->aio_fildes);
    const int error = real_aio_error(request);
    if (was_refused(request, error)) {
      note_not_made(request);
      continue;
    }
    if (descriptor == nullptr || (error != 0 && error != EINPROGRESS)) {
      set_done(request, begin_ns);
      continue;
    }
    charge(request, *descriptor, kind_of(request), begin_ns);
    done_ns = std::max(done_ns, done_ns_of(request));
  }
  return done_ns;
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
  return process_storage().is_open() ? error_of(request) : real_aio_error(request);
}
// Of one that is not done yet, what comes is not defined: it is none of the storage's.
NVMEMU_EXPORT ssize_t aio_return(aiocb* request) noexcept {
  if (process_storage().is_open()) {
    const std::uint64_t done_ns = done_ns_of(request);
    const KeepErrno keep;
    const int error = done_ns == 0 || done_ns == kNever ? EINPROGRESS : real_aio_error(request);
    if (error == 0) sleep_until(done_ns);
    if (error != EINPROGRESS) take_back_unwritten(request, error);
    if (!is_to_be_told(request)) unmark(request);
  }
  return real_aio_return(request);
}
NVMEMU_EXPORT int aio_suspend(const aiocb* const requests[], int count, const timespec* timeout) {
  this_thread().reach_edge(__builtin_return_address(0));
  const std::span<const aiocb* const> all(requests, static_cast<std::size_t>(std::max(count, 0)));
  if (!process_storage().is_open() || !is_any_charged(all)) return real_aio_suspend(requests, count, timeout);
  return suspend(all, timeout);
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

NVMEMU_EXPORT int lio_listio(int mode, aiocb* const requests[], int count, sigevent* event) noexcept {
  this_thread().reach_edge(__builtin_return_address(0));
  if (!process_storage().is_open() || count < 0 || (mode != LIO_WAIT && mode != LIO_NOWAIT))
    return real_lio_listio(mode, requests, count, event);
  const std::span<aiocb* const> all(requests, static_cast<std::size_t>(count));
  const bool is_told = mode == LIO_NOWAIT && event != nullptr && tells(*event);
  for (aiocb* const request : all) {
    if (moves_bytes(request)) prepare(request, kind_of(request), is_told);
  }
  const std::uint64_t begin_ns = ProcessStorage::now_ns();
  const int result = real_lio_listio(mode, requests, count, event);
  const KeepErrno keep;
  const std::uint64_t done_ns = charge_list(all, begin_ns);
  if (mode == LIO_WAIT) sleep_until(done_ns);
  return result;
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
NVMEMU_EXPORT int aio_suspend64(const aiocb64* const requests[], int count, const timespec* timeout) {
  return aio_suspend(reinterpret_cast<const aiocb* const*>(requests), count, timeout);
}
NVMEMU_EXPORT int aio_cancel64(int fd, aiocb64* request) noexcept {
  return aio_cancel(fd, reinterpret_cast<aiocb*>(request));
}
NVMEMU_EXPORT int lio_listio64(int mode, aiocb64* const requests[], int count, sigevent* event) noexcept {
  return lio_listio(mode, reinterpret_cast<aiocb* const*>(requests), count, event);
}
