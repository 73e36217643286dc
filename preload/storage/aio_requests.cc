// SPDX-License-Identifier: Apache-2.0
#include "storage/aio_requests.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>

#include "base/raw_syscall.h"
#include "device_wait.h"
#include "hook.h"
#include "storage/aio_mark.h"
#include "storage/aio_teller.h"

namespace nvmemu::preload {
namespace {

NVMEMU_HOOK(int, aio_error, (const aiocb*));

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

}  // namespace

int librarys_error(const aiocb* request) noexcept { return real_aio_error(request); }

StoredDescriptor* find_charged(const aiocb* request, Request kind) noexcept {
  StoredDescriptor* const descriptor = process_storage().find_named(request->aio_fildes);
  return descriptor != nullptr && can_be_made(request->aio_fildes, kind) ? descriptor : nullptr;
}

StoredDescriptor* prepare(aiocb* request, Request kind) noexcept {
  ProcessStorage& storage = process_storage();
  if (!storage.is_open()) return nullptr;
  unmark(request);
  StoredDescriptor* const descriptor = find_charged(request, kind);
  if (descriptor == nullptr) return nullptr;
  const bool by_thread = is_told_by_thread(request->aio_sigevent);
  const bool by_signal = is_told_by_signal(request->aio_sigevent);
  mark(request);
  if ((tells(request->aio_sigevent) && !by_thread && !by_signal) ||
      (by_signal && !aio_teller().add(request))) {
    unmark(request);
    storage.on_told_request(*descriptor);
    return nullptr;
  }
  if (by_thread) tell_later(request);
  return descriptor;
}

void note_not_made(aiocb* request) noexcept {
  if (is_tellers(request)) {
    aio_teller().remove(request);
  } else if (is_to_be_told(request)) {
    give_back(request, *place_of(request));
  }
  unmark(request);
}

std::uint64_t charge(aiocb* request, StoredDescriptor& descriptor, Request kind,
                     std::uint64_t begin_ns) noexcept {
  const auto offset = static_cast<std::uint64_t>(std::max<off_t>(request->aio_offset, 0));
  const std::uint64_t done_ns = process_storage().on_request_in_turn(
      descriptor, {.kind = kind, .offset = offset, .bytes = request->aio_nbytes}, begin_ns);
  set_done(request, done_ns);
  return done_ns;
}

// What has failed is not waited for, and of what was cancelled the program knows.
bool is_still_served(const aiocb* request, int error, std::uint64_t now_ns) noexcept {
  if (error == EINPROGRESS || error == ECANCELED) return false;
  return is_to_be_told(request) || (error == 0 && done_ns_of(request) > now_ns);
}

}  // namespace nvmemu::preload
