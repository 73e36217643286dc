// SPDX-License-Identifier: Apache-2.0
// Interposed: Linux' own aio, as libaio has it: the system calls, with their errors as results. A request is
// charged when it is made, and its event is the program's when the storage would be done with it. As in
// Linux, what is read and written by way of the page cache is done when io_submit returns, and so is what
// memory does: only requests past the cache, and syncs, are left under way.
//
// io_cancel is left to libaio: the kernel cancels nothing that is charged. What libaio keeps for programs of
// 2002 (io_getevents of LIBAIO_0.1, with a word less) none of these is.
#include <limits.h>
#include <linux/aio_abi.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>

#include "asked_memory.h"
#include "base/timespec.h"
#include "edge.h"
#include "signal_mask.h"
#include "storage/device_wait.h"
#include "storage/linux_aio_contexts.h"
#include "storage/stored_call.h"

namespace nvmemu::preload {
namespace {

using Request = ProcessStorage::Request;
using FileRequest = ProcessStorage::FileRequest;

constexpr std::uint64_t kNever = PendingRequest::kNotKnown;

template <typename T>
bool kernel_reads(const T* first, std::size_t count = 1) noexcept {
  return preload::kernel_reads(reinterpret_cast<std::uintptr_t>(first), count * sizeof(T));
}

// Of the program's own request, which the kernel has not looked at yet: whether it is one that is charged.
bool read_request(const iocb& request, FileRequest& found) noexcept {
  found = {.offset = static_cast<std::uint64_t>(std::max<std::int64_t>(request.aio_offset, 0)),
           .bytes = request.aio_nbytes};
  if ((request.aio_rw_flags & RWF_DSYNC) != 0) found.asked |= StoredDescriptor::kDataSyncs;
  if ((request.aio_rw_flags & RWF_SYNC) != 0) found.asked |= StoredDescriptor::kSyncs;
  if ((request.aio_rw_flags & RWF_APPEND) != 0) found.asked |= StoredDescriptor::kAppends;
  switch (request.aio_lio_opcode) {
    case IOCB_CMD_PREADV:
    case IOCB_CMD_PWRITEV: {
      const auto* const parts = reinterpret_cast<const iovec*>(request.aio_buf);
      if (request.aio_nbytes > IOV_MAX) return false;
      if (request.aio_nbytes > 0 && !kernel_reads(parts, request.aio_nbytes)) return false;
      found.bytes = 0;
      for (const iovec& part : std::span(parts, request.aio_nbytes)) found.bytes += part.iov_len;
      break;
    }
    default:
      break;
  }
  switch (request.aio_lio_opcode) {
    case IOCB_CMD_PREAD:
    case IOCB_CMD_PREADV:
      return found.kind = Request::kRead, true;
    case IOCB_CMD_PWRITE:
    case IOCB_CMD_PWRITEV:
      return found.kind = Request::kWrite, true;
    case IOCB_CMD_FSYNC:
      return found.kind = Request::kSync, true;
    case IOCB_CMD_FDSYNC:
      return found.kind = Request::kDataSync, true;
    default:
      return false;
  }
}

// Requests of one call, which are charged in their order.
class Submission {
 public:
  static constexpr long kMost = 64;

  Submission(aio_context_t context, std::uint64_t begin_ns) noexcept
      : context_(context), begin_ns_(begin_ns) {}

  // The one with that number is about to be made. Whose end an eventfd tells of is not charged: the kernel
  // writes to it when the real storage is done.
  // Nor is what cannot be read, which the kernel refuses.
  void add(long number, const iocb* const* its) noexcept {
    if (!kernel_reads_word(reinterpret_cast<std::uintptr_t>(its)) || !kernel_reads(*its)) return;
    const iocb* const request = *its;
    ProcessStorage& storage = process_storage();
    StoredDescriptor* const descriptor = storage.find_named(static_cast<int>(request->aio_fildes));
    FileRequest found;
    if (descriptor == nullptr || !read_request(*request, found)) return;
    if ((request->aio_flags & IOCB_FLAG_RESFD) != 0) return storage.on_told_request(*descriptor);
    PendingRequest* const pending =
        linux_aio_contexts().add(context_, *request, found.kind, descriptor->name, found.bytes, begin_ns_);
    charged_[count_++] = {number, descriptor, found, pending};
  }

  // The first `made` were. Waits for what Linux waits for there, and for what cannot be held.
  void charge(long made) noexcept {
    ProcessStorage& storage = process_storage();
    std::uint64_t turn_ns = begin_ns_;
    for (const Charged& one : std::span(charged_).first(count_)) {
      if (one.number >= made) {
        if (one.pending != nullptr) linux_aio_contexts().remove(context_, *one.pending);
        continue;
      }
      const std::uint64_t done_ns = storage.on_request(*one.descriptor, one.request, turn_ns);
      if (one.pending != nullptr) linux_aio_contexts().set_done(context_, *one.pending, done_ns);
      if (one.pending != nullptr && is_left_under_way(one)) continue;
      storage.wait(one.descriptor->volume(), turn_ns, done_ns);
      turn_ns = done_ns;
    }
  }

 private:
  struct Charged {
    long number;
    StoredDescriptor* descriptor;
    FileRequest request;
    PendingRequest* pending;  // null: there is no room for it
  };

  static bool is_left_under_way(const Charged& one) noexcept {
    const bool moves = one.request.kind == Request::kRead || one.request.kind == Request::kWrite;
    return !moves || process_storage().is_past_cache(*one.descriptor);
  }

  aio_context_t context_;
  std::uint64_t begin_ns_;
  std::size_t count_ = 0;
  std::array<Charged, kMost> charged_;
};

long make(aio_context_t context, long count, iocb** requests) noexcept {
  return raw_syscall(SYS_io_submit, context, count, requests);
}

// In parts, as many of them as the kernel takes.
long submit(aio_context_t context, long count, iocb** requests) noexcept {
  long made = 0;
  while (made < count) {
    const long part = std::min(count - made, Submission::kMost);
    Submission submission(context, ProcessStorage::now_ns());
    for (long i = 0; i < part; ++i) submission.add(i, requests + made + i);
    const long result = make(context, part, requests + made);
    submission.charge(std::max(result, 0L));
    if (result < 0) return made > 0 ? made : result;
    made += result;
    if (result < part) break;
  }
  return made;
}

// What a call waits for events by.
struct EventCall {
  aio_context_t context;
  long least, most;
  io_event* events;
  const timespec* timeout;  // null: for ever
  const sigset_t* mask = nullptr;
  bool has_mask = false;

  // As the kernel has it.
  long make(long at_least, long at_most, io_event* to, const timespec* time) const noexcept {
    if (!has_mask) return raw_syscall(SYS_io_getevents, context, at_least, at_most, to, time);
    const struct {
      const sigset_t* mask;
      std::size_t bytes;
    } meanwhile{mask, sizeof(SignalMask)};
    return raw_syscall(SYS_io_pgetevents, context, at_least, at_most, to, time, &meanwhile);
  }
};

std::uint64_t limit_of(const timespec* timeout, std::uint64_t now_ns) noexcept {
  constexpr time_t kLong = 1'000'000'000;
  if (timeout == nullptr || timeout->tv_sec >= kLong) return kNever;
  if (timeout->tv_sec < 0) return now_ns;
  return now_ns + ns_of({timeout->tv_sec, std::max(timeout->tv_nsec, 0L)});
}

// Events of the kernel's, for as long as that; those that are not the program's yet are kept back.
long fetch(const EventCall& call, long at_least, long got, std::uint64_t now_ns,
           std::uint64_t until_ns) noexcept {
  const std::uint64_t left_ns = until_ns - std::min(until_ns, now_ns);
  const timespec time = timespec_of(left_ns);
  const long result = call.make(at_least, call.most - got, call.events + got, &time);
  if (result <= 0) return result;
  return linux_aio_contexts().keep_done(call.context, call.events + got, result, ProcessStorage::now_ns());
}

// Until the storage is done, or the kernel has something, which is looked for until shortly before. Another
// thread may take from the kernel what is to be held, and go: so nobody sleeps there for ever.
long wait_for_some(const EventCall& call, long got, std::uint64_t now_ns, std::uint64_t limit_ns) noexcept {
  constexpr std::uint64_t kSpunNs = 300'000, kLookAgainNs = 10'000'000;
  const std::uint64_t next_ns = linux_aio_contexts().look_again_ns(call.context, now_ns);
  if (next_ns == kNever)
    return fetch(call, call.least - got, got, now_ns, std::min(limit_ns, now_ns + kLookAgainNs));
  const bool is_soon = next_ns <= now_ns + kSpunNs;
  const long found =
      fetch(call, is_soon ? 0 : 1, got, now_ns, std::min(limit_ns, is_soon ? now_ns : next_ns - kSpunNs));
  if (found == 0 && is_soon) sleep_until(std::min(next_ns, limit_ns));
  return found;
}

long get_events(const EventCall& call) noexcept {
  if (call.most <= 0 || call.least < 0 || call.least > call.most)
    return call.make(call.least, call.most, call.events, call.timeout);
  if (call.timeout != nullptr && !kernel_reads(call.timeout)) return -EFAULT;
  std::uint64_t now_ns = ProcessStorage::now_ns();
  const std::uint64_t limit_ns = limit_of(call.timeout, now_ns);
  for (long got = 0;; now_ns = ProcessStorage::now_ns()) {
    const long taken =
        linux_aio_contexts().take_done(call.context, call.events + got, call.most - got, now_ns);
    if (taken < 0) return got > 0 ? got : taken;
    got += taken;
    if (got == call.most) return got;
    const bool is_last = got >= call.least || now_ns >= limit_ns;
    const long found =
        is_last ? fetch(call, 0, got, now_ns, now_ns) : wait_for_some(call, got, now_ns, limit_ns);
    if (found < 0) return got > 0 ? got : found;
    got += found;
    if (is_last || got >= call.least) return got;
  }
}

}  // namespace
}  // namespace nvmemu::preload

using namespace nvmemu::preload;

NVMEMU_EXPORT int io_setup(int most, aio_context_t* context) noexcept {
  if (process_storage().calls_are_trapped()) return -ENOSYS;  // as there
  return static_cast<int>(nvmemu::raw_syscall(SYS_io_setup, most, context));
}
NVMEMU_EXPORT int io_queue_init(int most, aio_context_t* context) noexcept {
  if (most <= 0) return -EINVAL;
  *context = 0;
  return io_setup(most, context);
}
// Which ends when all that was asked for has.
NVMEMU_EXPORT int io_destroy(aio_context_t context) noexcept {
  const std::uint64_t done_ns = process_storage().is_open() ? linux_aio_contexts().forget(context) : 0;
  const long result = nvmemu::raw_syscall(SYS_io_destroy, context);
  if (result == 0) sleep_until(done_ns);
  return static_cast<int>(result);
}

NVMEMU_EXPORT int io_submit(aio_context_t context, long count, iocb** requests) noexcept {
  this_thread().reach_edge(__builtin_return_address(0));
  const bool is_charged = process_storage().is_open() && count > 0 && requests != nullptr;
  return static_cast<int>(is_charged ? submit(context, count, requests) : make(context, count, requests));
}

// What it is asked for without a wait, and is not there, libaio tells without a call.
NVMEMU_EXPORT int io_getevents(aio_context_t context, long least, long most, io_event* events,
                               timespec* timeout) noexcept {
  this_thread().reach_edge(__builtin_return_address(0));
  const EventCall call{
      .context = context, .least = least, .most = most, .events = events, .timeout = timeout};
  if (process_storage().is_open()) return static_cast<int>(get_events(call));
  const bool waits = timeout == nullptr || timeout->tv_sec != 0 || timeout->tv_nsec != 0;
  return !waits && is_ring_empty(context) ? 0 : static_cast<int>(call.make(least, most, events, timeout));
}
NVMEMU_EXPORT int io_pgetevents(aio_context_t context, long least, long most, io_event* events,
                                timespec* timeout, sigset_t* mask) noexcept {
  this_thread().reach_edge(__builtin_return_address(0));
  const EventCall call{.context = context,
                       .least = least,
                       .most = most,
                       .events = events,
                       .timeout = timeout,
                       .mask = mask,
                       .has_mask = true};
  if (process_storage().is_open()) return static_cast<int>(get_events(call));
  return static_cast<int>(call.make(least, most, events, timeout));
}
