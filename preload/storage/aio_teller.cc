// SPDX-License-Identifier: Apache-2.0
#include "storage/aio_teller.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "base/clock.h"
#include "base/timespec.h"
#include "hook.h"
#include "keep_errno.h"
#include "quiet_lock.h"
#include "signal_mask.h"
#include "storage/aio_mark.h"
#include "storage/device_wait.h"

namespace nvmemu::preload {
namespace {

NVMEMU_HOOK(int, aio_error, (const aiocb*));
NVMEMU_HOOK(int, pthread_create, (pthread_t*, const pthread_attr_t*, void* (*)(void*), void*));

// As the C library does, which takes what cannot be told for the request's own error.
void tell(aiocb* request) noexcept {
  const sigevent& event = request->aio_sigevent;
  siginfo_t info{};
  info.si_signo = event.sigev_signo;
  info.si_code = SI_ASYNCIO;
  info.si_pid = static_cast<pid_t>(raw_syscall(SYS_getpid));
  info.si_uid = static_cast<uid_t>(raw_syscall(SYS_getuid));
  info.si_value = event.sigev_value;
  give_back(request, *place_of(request));
  const long result = raw_syscall(SYS_rt_sigqueueinfo, info.si_pid, info.si_signo, &info);
  if (!is_error(result)) return;
  request->__error_code = static_cast<int>(-result);
  request->__return_value = -1;
}

}  // namespace

AioTeller& aio_teller() noexcept {
  static constinit AioTeller teller;
  return teller;
}

bool AioTeller::add(aiocb* request) noexcept {
  {
    const QuietLock held(lock_);
    if (!begin() || !place(request)) return false;
    tell_by_signal_later(request);
  }
  changes_.fetch_add(1, std::memory_order_release);
  raw_syscall(SYS_futex, &changes_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  return true;
}

bool AioTeller::place(aiocb* request) noexcept {
  const auto place = std::ranges::find(requests_, nullptr);
  if (place == requests_.end()) return false;
  *place = request;
  end_ = std::max(end_, static_cast<std::size_t>(place - requests_.begin()) + 1);
  return true;
}

void AioTeller::remove(aiocb* request) noexcept {
  const QuietLock held(lock_);
  std::ranges::replace(requests_, request, nullptr);
  give_back(request, *place_of(request));
}

void AioTeller::tell_of_cancelled() noexcept {
  const QuietLock held(lock_);
  for (std::size_t i = 0; i < end_; ++i) {
    aiocb* const request = requests_[i];
    if (request == nullptr || real_aio_error(request) != ECANCELED) continue;
    requests_[i] = nullptr;
    tell(request);
  }
}

void AioTeller::forget_all() noexcept { new (this) AioTeller; }

// It takes what it is made with, the mask: the program's signals are none of its.
bool AioTeller::begin() noexcept {
  if (has_begun_) return true;
  const KeepErrno keep;
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  constexpr std::size_t kStackBytes = 128 << 10;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread;
  has_begun_ = real_pthread_create(&thread, &attributes, &AioTeller::run, this) == 0;
  pthread_attr_destroy(&attributes);
  return has_begun_;
}

void* AioTeller::run(void* teller) noexcept {
  set_signal_mask(~SignalMask{0});
  auto& self = *static_cast<AioTeller*>(teller);
  for (;;) {
    const std::uint32_t seen = self.changes_.load(std::memory_order_acquire);
    const std::uint64_t now_ns = monotonic_raw_ns();
    self.wait(seen, now_ns, self.tell_some(now_ns));
  }
}

// Of those that are done; when to look again. What has failed is not waited for.
std::uint64_t AioTeller::tell_some(std::uint64_t now_ns) noexcept {
  constexpr std::uint64_t kLookAgainNs = 100'000;
  const QuietLock held(lock_);
  std::uint64_t next_ns = kNever;
  for (std::size_t i = 0; i < end_; ++i) {
    aiocb* const request = requests_[i];
    if (request == nullptr) continue;
    const std::uint64_t done_ns = done_ns_of(request);
    const int error = real_aio_error(request);
    if (done_ns == kNever) {
      next_ns = std::min(next_ns, now_ns + kLookAgainNs);
    } else if (error == EINPROGRESS) {
      next_ns = std::min(next_ns, std::max(done_ns, now_ns + kLookAgainNs));
    } else if (error == 0 && done_ns > now_ns) {
      next_ns = std::min(next_ns, done_ns);
    } else {
      requests_[i] = nullptr;
      if (is_to_be_told(request)) tell(request);
    }
  }
  return next_ns;
}

// Until then, or there is more.
void AioTeller::wait(std::uint32_t seen, std::uint64_t now_ns, std::uint64_t next_ns) noexcept {
  constexpr std::uint64_t kSpunNs = 300'000;
  if (next_ns <= now_ns + kSpunNs) return sleep_until(next_ns);
  const std::uint64_t left_ns = next_ns - now_ns - kSpunNs;
  const timespec time = timespec_of(left_ns);
  raw_syscall(SYS_futex, &changes_, FUTEX_WAIT_PRIVATE, seen, next_ns == kNever ? nullptr : &time, nullptr,
              0);
}

}  // namespace nvmemu::preload
