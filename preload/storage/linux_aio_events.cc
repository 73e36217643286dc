// SPDX-License-Identifier: Apache-2.0
// Events of Linux' own aio, which are the program's when the storage would be done, too.
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>

#include "asked_memory.h"
#include "base/raw_syscall.h"
#include "base/timespec.h"
#include "device_wait.h"
#include "storage/linux_aio.h"
#include "storage/linux_aio_contexts.h"

namespace nvmemu::preload::linux_aio {
namespace {

constexpr std::uint64_t kNever = PendingRequest::kNotKnown;

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

long get_stored_events(const EventCall& call) noexcept {
  if (call.most <= 0 || call.least < 0 || call.least > call.most)
    return call.make(call.least, call.most, call.events, call.timeout);
  if (call.timeout != nullptr &&
      !kernel_reads(reinterpret_cast<std::uintptr_t>(call.timeout), sizeof(timespec)))
    return -EFAULT;
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

long EventCall::make(long at_least, long at_most, io_event* to, const timespec* time) const noexcept {
  if (meanwhile == nullptr) return raw_syscall(SYS_io_getevents, context, at_least, at_most, to, time);
  // It is the program's own, and let through or not.
  return raw_syscall_words(SYS_io_pgetevents, as_word(context), at_least, at_most, as_word(to), as_word(time),
                           as_word(meanwhile));
}

long get_events(const EventCall& call) noexcept {
  return process_storage().is_open() ? get_stored_events(call)
                                     : call.make(call.least, call.most, call.events, call.timeout);
}

long destroy(aio_context_t context) noexcept {
  const std::uint64_t done_ns = process_storage().is_open() ? linux_aio_contexts().forget(context) : 0;
  const long result = raw_syscall(SYS_io_destroy, context);
  if (result == 0) sleep_until(done_ns);
  return result;
}

}  // namespace nvmemu::preload::linux_aio
