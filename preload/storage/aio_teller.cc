// SPDX-License-Identifier: Apache-2.0
#include "storage/aio_teller.h"

#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "base/clock.h"
#include "base/timespec.h"
#include "device_wait.h"
#include "quiet_lock.h"
#include "signal_mask.h"
#include "storage/aio_mark.h"
#include "storage/aio_requests.h"
#include "storage/aio_signal.h"
#include "storage/teller_thread.h"

namespace nvmemu::preload {

AioTeller& aio_teller() noexcept {
  static constinit AioTeller teller;
  return teller;
}

bool AioTeller::add(aiocb* request, ToldList* list) noexcept {
  {
    const QuietLock held(lock_);
    if (!begin() || !place({request, list})) return false;
    leave_to_teller(request);
    if (list != nullptr) list->add_one();
  }
  changes_.fetch_add(1, std::memory_order_release);
  raw_syscall(SYS_futex, &changes_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  return true;
}

bool AioTeller::place(const Held& held) noexcept {
  const auto place = std::ranges::find(held_, nullptr, &Held::request);
  if (place == held_.end()) return false;
  *place = held;
  end_ = std::max(end_, static_cast<std::size_t>(place - held_.begin()) + 1);
  return true;
}

void AioTeller::remove(aiocb* request) noexcept {
  const QuietLock held(lock_);
  give_back(request, *place_of(request));
  const auto place = std::ranges::find(held_, request, &Held::request);
  if (place == held_.end()) return;
  ToldList* const list = std::exchange(*place, {}).list;
  if (list != nullptr) list->drop_one();
}

void AioTeller::tell_of_cancelled() noexcept {
  const QuietLock held(lock_);
  for (std::size_t i = 0; i < end_; ++i) {
    if (held_[i].request != nullptr && librarys_error(held_[i].request) == ECANCELED) tell(held_[i]);
  }
}

// As the C library does, which takes what cannot be told for the request's own error. Its list is told of
// behind it.
void AioTeller::tell(Held& held) noexcept {
  const auto [request, list] = std::exchange(held, {});
  if (is_to_be_told(request)) {
    const Mark mark = *place_of(request);
    const sigevent event = request->aio_sigevent;
    give_back(request, mark);
    const bool signals = mark.value.sival_int == SIGEV_SIGNAL;
    if (const long result = signals ? signal_of_aio(event) : 0; is_error(result)) {
      request->__error_code = static_cast<int>(-result);
      request->__return_value = -1;
    }
  }
  if (list != nullptr) list->drop_one();
}

void AioTeller::forget_all() noexcept { new (this) AioTeller; }

bool AioTeller::begin() noexcept {
  if (has_begun_) return true;
  has_begun_ = begin_teller_thread(&AioTeller::run, this);
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
    aiocb* const request = held_[i].request;
    if (request == nullptr) continue;
    const std::uint64_t done_ns = done_ns_of(request);
    const int error = librarys_error(request);
    if (done_ns == kNever) {
      next_ns = std::min(next_ns, now_ns + kLookAgainNs);
    } else if (error == EINPROGRESS) {
      next_ns = std::min(next_ns, std::max(done_ns, now_ns + kLookAgainNs));
    } else if (error == 0 && done_ns > now_ns) {
      next_ns = std::min(next_ns, done_ns);
    } else {
      tell(held_[i]);
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
