// SPDX-License-Identifier: Apache-2.0
// Tells programs by their eventfds (IOCB_FLAG_RESFD) that requests of Linux' own aio are done, when the
// storage is, too. A descriptor of the program's may be closed by then, and its number another's; so that
// nothing is kept open here, and the kernel tells, which alone knows the eventfd behind it: by a request of
// the emulator's own, for a poll that nothing ends but its io_cancel(2). While the kernel takes the program's
// request, that has another eventfd, whose poll ends when the real storage has ended the request. One thread,
// with all signals blocked, waits for that.
#pragma once

#include <linux/aio_abi.h>

#include <array>
#include <atomic>
#include <cstdint>

#include "base/spin_lock.h"

namespace nvmemu::preload {

class EventfdTeller {
 public:
  // A request that asks for an eventfd, from before it is made until that is told.
  struct Held {
    enum class State : std::uint8_t { kFree, kBeingMade, kMade, kTold, kDropped };

    iocb end{}, tell{};  // the polls
    iocb* request = nullptr;
    std::uint32_t asked = 0;    // the program's descriptor, and
    int gate = -1;              // ours, until the request is made
    std::uint64_t done_ns = 0;  // of the storage
    State state = State::kFree;
    bool has_ended = false;  // the real one
  };

  // It is about to be made. Null: it cannot be held, and is as it was.
  Held* hold(iocb* request) noexcept;
  // The kernel has taken it, or not: it is as it was, for the program. Whether it is held still.
  bool give_back(Held& held, bool was_made) noexcept;
  // When the storage is done with what was made.
  void set_done(Held& held, std::uint64_t done_ns) noexcept;
  // Before a sandbox comes that keeps it from telling: until all is told, but no longer than a second.
  void finish() noexcept;
  // In the child of a fork, which has no requests.
  void forget_all() noexcept;

 private:
  static constexpr std::size_t kMost = 256;

  static void* run(void* teller) noexcept;
  bool begin() noexcept;
  bool poll_end_of(Held& held) noexcept;
  bool has_any() noexcept;
  Held* take_due(std::uint64_t now_ns, std::uint64_t& next_ns) noexcept;
  std::uint64_t tell_some(std::uint64_t now_ns) noexcept;
  void note(const io_event& event) noexcept;
  void do_without_events() noexcept;
  void wait(std::uint64_t now_ns, std::uint64_t next_ns) noexcept;

  SpinLock lock_;
  std::array<Held, kMost> held_{};
  std::size_t end_ = 0;  // none from here on
  aio_context_t context_ = 0;
  bool has_begun_ = false;
};

EventfdTeller& eventfd_teller() noexcept;

}  // namespace nvmemu::preload
