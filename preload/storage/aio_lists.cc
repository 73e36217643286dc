// SPDX-License-Identifier: Apache-2.0
#include "storage/aio_lists.h"

#include <linux/futex.h>
#include <sys/syscall.h>

#include <array>
#include <limits>
#include <span>

#include "base/raw_syscall.h"
#include "storage/aio_signal.h"

namespace nvmemu::preload {
namespace {

constinit std::array<ToldList, 256> lists;
constinit std::atomic<std::size_t> lists_used{0};  // none beyond has ever been

}  // namespace

ToldList* ToldList::begin(const sigevent& asked) noexcept {
  for (std::size_t i = 0; i < lists.size(); ++i) {
    ToldList& list = lists[i];
    if (list.is_taken_.exchange(true, std::memory_order_acquire)) continue;
    if (lists_used.load(std::memory_order_relaxed) <= i) lists_used.store(i + 1, std::memory_order_relaxed);
    list.asked_ = asked;
    list.left_.store(1, std::memory_order_relaxed);
    return &list;
  }
  return nullptr;
}

void ToldList::forget_all() noexcept {
  const std::size_t used = lists_used.load(std::memory_order_relaxed);
  for (ToldList& list : std::span(lists).first(used)) list.is_taken_.store(false, std::memory_order_relaxed);
}

sigevent ToldList::for_the_library() noexcept {
  sigevent event = asked_;
  if (event.sigev_notify == SIGEV_THREAD) {
    event.sigev_notify_function = &tell_when_done;
    event.sigev_value.sival_ptr = this;
  } else {
    event.sigev_notify = SIGEV_NONE;
  }
  return event;
}

void ToldList::drop_one() noexcept {
  const bool is_by_thread = asked_.sigev_notify == SIGEV_THREAD;  // which may end it once none are left
  const std::uint32_t before = left_.fetch_sub(1, std::memory_order_acq_rel);
  if ((before & ~kSilent) != 1) return;
  const bool is_silent = (before & kSilent) != 0;
  if (is_by_thread && !is_silent) {
    raw_syscall(SYS_futex, &left_, FUTEX_WAKE_PRIVATE, std::numeric_limits<int>::max(), nullptr, nullptr, 0);
    return;
  }
  const sigevent asked = end();
  if (!is_silent) signal_of_aio(asked);
}

// In the thread that the C library has made to tell, when the real storage is done with all.
void ToldList::tell_when_done(sigval of_list) noexcept {
  auto& list = *static_cast<ToldList*>(of_list.sival_ptr);
  list.wait();
  const sigevent asked = list.end();
  asked.sigev_notify_function(asked.sigev_value);
}

void ToldList::wait() noexcept {
  for (std::uint32_t left = 0; (left = left_.load(std::memory_order_acquire)) != 0;)
    raw_syscall(SYS_futex, &left_, FUTEX_WAIT_PRIVATE, left, nullptr, nullptr, 0);
}

sigevent ToldList::end() noexcept {
  const sigevent asked = asked_;
  is_taken_.store(false, std::memory_order_release);
  return asked;
}

}  // namespace nvmemu::preload
