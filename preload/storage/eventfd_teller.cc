// SPDX-License-Identifier: Apache-2.0
#include "storage/eventfd_teller.h"

#include <linux/futex.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <new>
#include <span>

#include "base/clock.h"
#include "base/raw_syscall.h"
#include "base/timespec.h"
#include "descriptor_path.h"
#include "device_wait.h"
#include "quiet_lock.h"
#include "signal_mask.h"
#include "storage/teller_thread.h"

namespace nvmemu::preload {
namespace {

constexpr std::uint64_t kNobodyWaits = std::numeric_limits<std::uint64_t>::max();

using Held = EventfdTeller::Held;
using State = Held::State;

bool is_eventfd(std::uint32_t fd) noexcept {
  Path room;
  return path_of_descriptor(static_cast<int>(fd), room) == "anon_inode:[eventfd]";
}

// The kernel does nothing to the word, but as what writes it.
bool kernel_writes_word(std::uint32_t* word) noexcept {
  constexpr std::uint32_t kAddNothing = static_cast<std::uint32_t>(FUTEX_OP_ADD) << 28;
  std::uint32_t own = 0;
  return !is_error(raw_syscall(SYS_futex, &own, FUTEX_WAKE_OP_PRIVATE, 0, 0, word, kAddNothing));
}

// Whose event says which it is of, and whether it was to tell.
iocb poll_of(int fd, short events, std::size_t number, bool tells) noexcept {
  iocb poll{};
  poll.aio_lio_opcode = IOCB_CMD_POLL;
  poll.aio_fildes = static_cast<std::uint32_t>(fd);
  poll.aio_buf = static_cast<std::uint64_t>(events);
  poll.aio_data = 2 * number + (tells ? 1 : 0);
  return poll;
}

bool make(aio_context_t context, iocb& request) noexcept {
  iocb* one[] = {&request};
  return raw_syscall(SYS_io_submit, context, 1, one) == 1;
}

// It ends, with an event; and tells, if it is to.
void end(aio_context_t context, iocb& poll) noexcept {
  io_event unused;
  raw_syscall(SYS_io_cancel, context, &poll, &unused);
}

// A sandbox may say no.
bool can_be_asked(aio_context_t context) noexcept {
  constexpr timespec kAtOnce{};
  io_event event;
  iocb none{};
  return raw_syscall(SYS_io_pgetevents, context, 0, 1, &event, &kAtOnce, nullptr) == 0 &&
         raw_syscall(SYS_io_cancel, context, &none, &event) == -EINVAL;
}

}  // namespace

EventfdTeller& eventfd_teller() noexcept {
  static constinit EventfdTeller teller;
  return teller;
}

Held* EventfdTeller::hold(iocb* request) noexcept {
  // What a sandbox that has come since refuses.
  if (is_refused_syscall(SYS_io_cancel) || is_refused_syscall(SYS_io_pgetevents)) return nullptr;
  if (!is_eventfd(request->aio_resfd) || !kernel_writes_word(&request->aio_resfd)) return nullptr;
  const QuietLock locked(lock_);
  auto* const held = std::ranges::find(held_, State::kFree, &Held::state);
  if (held == held_.end() || !begin() || !poll_end_of(*held)) return nullptr;
  end_ = std::max(end_, static_cast<std::size_t>(held - held_.begin()) + 1);
  held->request = request;
  held->asked = request->aio_resfd;
  held->state = State::kBeingMade;
  held->has_ended = false;
  request->aio_resfd = static_cast<std::uint32_t>(held->gate);
  return held;
}

bool EventfdTeller::poll_end_of(Held& held) noexcept {
  const long gate = raw_syscall(SYS_eventfd2, 0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (is_error(gate)) return false;
  held.gate = static_cast<int>(gate);
  held.end = poll_of(held.gate, POLLIN, static_cast<std::size_t>(&held - held_.data()), false);
  if (make(context_, held.end)) return true;
  raw_syscall(SYS_close, gate);
  return false;
}

// What ends nothing is the same eventfd, asked for no event.
bool EventfdTeller::give_back(Held& held, bool was_made) noexcept {
  held.request->aio_resfd = held.asked;
  const QuietLock locked(lock_);
  held.request = nullptr;
  if (was_made) {
    held.tell = poll_of(held.gate, 0, static_cast<std::size_t>(&held - held_.data()), true);
    held.tell.aio_flags = IOCB_FLAG_RESFD;
    held.tell.aio_resfd = held.asked;
    was_made = make(context_, held.tell);
  }
  raw_syscall(SYS_close, held.gate);
  if (was_made) return true;
  held.state = held.has_ended ? State::kFree : State::kDropped;
  if (!held.has_ended) end(context_, held.end);
  return false;
}

void EventfdTeller::set_done(Held& held, std::uint64_t done_ns) noexcept {
  const QuietLock locked(lock_);
  if (held.state != State::kBeingMade) return;
  held.done_ns = done_ns;
  held.state = State::kMade;
}

bool EventfdTeller::has_any() noexcept {
  const QuietLock locked(lock_);
  return std::ranges::any_of(std::span(held_).first(end_),
                             [](const Held& held) { return held.state != State::kFree; });
}

void EventfdTeller::finish() noexcept {
  constexpr std::uint64_t kLongestNs = 1'000'000'000, kLookAgainNs = 1'000'000;
  const std::uint64_t begin_ns = monotonic_raw_ns();
  for (std::uint64_t now_ns = begin_ns; has_any() && now_ns < begin_ns + kLongestNs;) {
    sleep_until(now_ns + kLookAgainNs);
    now_ns = monotonic_raw_ns();
  }
}

void EventfdTeller::forget_all() noexcept {
  for (Held& held : std::span(held_).first(end_)) held.state = State::kFree;
  new (&lock_) SpinLock;
  end_ = 0;
  context_ = 0;
  has_begun_ = false;
}

bool EventfdTeller::begin() noexcept {
  if (has_begun_) return true;
  if (context_ == 0 && is_error(raw_syscall(SYS_io_setup, 2 * kMost, &context_))) return false;
  if (!can_be_asked(context_)) return false;
  has_begun_ = begin_teller_thread(&EventfdTeller::run, this);
  return has_begun_;
}

void* EventfdTeller::run(void* teller) noexcept {
  set_signal_mask(~SignalMask{0});
  auto& self = *static_cast<EventfdTeller*>(teller);
  for (;;) {
    const std::uint64_t now_ns = monotonic_raw_ns();
    self.wait(now_ns, self.tell_some(now_ns));
  }
}

// What is done and not told of; else null, and when to look again. Of what the real storage has not ended its
// event says when it has.
Held* EventfdTeller::take_due(std::uint64_t now_ns, std::uint64_t& next_ns) noexcept {
  constexpr std::uint64_t kLookAgainNs = 100'000;
  const QuietLock locked(lock_);
  next_ns = kNobodyWaits;
  for (Held& held : std::span(held_).first(end_)) {
    if (!held.has_ended) continue;
    if (held.state == State::kBeingMade) {
      next_ns = std::min(next_ns, now_ns + kLookAgainNs);
    } else if (held.state == State::kMade && held.done_ns > now_ns) {
      next_ns = std::min(next_ns, held.done_ns);
    } else if (held.state == State::kMade) {
      held.state = State::kTold;
      return &held;
    }
  }
  return nullptr;
}

// None of it under the lock: the kernel may take its time.
std::uint64_t EventfdTeller::tell_some(std::uint64_t now_ns) noexcept {
  std::uint64_t next_ns = kNobodyWaits;
  while (Held* const due = take_due(now_ns, next_ns)) end(context_, due->tell);
  return next_ns;
}

void EventfdTeller::note(const io_event& event) noexcept {
  const QuietLock locked(lock_);
  Held& held = held_[event.data / 2 % kMost];
  held.has_ended = true;
  if (event.data % 2 != 0 || held.state == State::kDropped) held.state = State::kFree;
}

// A sandbox that has come since keeps them back: what is done for the storage counts as ended.
void EventfdTeller::do_without_events() noexcept {
  constexpr std::uint64_t kLookAgainNs = 10'000'000;
  sleep_until(monotonic_raw_ns() + kLookAgainNs);
  const QuietLock locked(lock_);
  for (Held& held : std::span(held_).first(end_)) held.has_ended = true;
}

// Until then, or something has ended.
void EventfdTeller::wait(std::uint64_t now_ns, std::uint64_t next_ns) noexcept {
  constexpr std::uint64_t kSpunNs = 300'000;
  const bool is_soon = next_ns <= now_ns + kSpunNs;
  const timespec time = timespec_of(is_soon ? 0 : next_ns - now_ns - kSpunNs);
  std::array<io_event, 32> events;
  const long count = raw_syscall(SYS_io_pgetevents, context_, is_soon ? 0 : 1, events.size(), events.data(),
                                 next_ns == kNobodyWaits ? nullptr : &time, nullptr);
  if (is_error(count) && count != -EINTR) return do_without_events();
  for (long i = 0; i < count; ++i) note(events[static_cast<std::size_t>(i)]);
  if (count <= 0 && is_soon) sleep_until(next_ns);
}

}  // namespace nvmemu::preload
