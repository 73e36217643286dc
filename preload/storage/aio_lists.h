// SPDX-License-Identifier: Apache-2.0
// Lists of requests of POSIX aio of whose end the program is told by a signal or a thread (lio_listio). All
// that the C library waits for in such a list is with the AioTeller, whatever it is on; when the last of it
// is told of, the list is: by a signal that is sent in the C library's place, or by the thread that the C
// library has made, which waits for that before it calls the program's function.
#pragma once

#include <signal.h>

#include <atomic>
#include <cstdint>

namespace nvmemu::preload {

class ToldList {
 public:
  // Who makes the list holds it, as one of its requests; null: there is no place.
  static ToldList* begin(const sigevent& asked) noexcept;
  // In the child of a fork, which has none.
  static void forget_all() noexcept;

  // What the C library is asked for instead.
  sigevent for_the_library() noexcept;
  // Nobody tells of it: it was not made. Before its maker drops it.
  void silence() noexcept { left_.fetch_or(kSilent, std::memory_order_relaxed); }
  void add_one() noexcept { left_.fetch_add(1, std::memory_order_relaxed); }
  // Behind the last of them, the list is told of, and no more. Async-signal-safe.
  void drop_one() noexcept;

 private:
  static constexpr std::uint32_t kSilent = 1U << 31;

  static void tell_when_done(sigval of_list) noexcept;
  void wait() noexcept;
  sigevent end() noexcept;

  std::atomic<bool> is_taken_{false};
  std::atomic<std::uint32_t> left_{0};
  sigevent asked_{};
};

}  // namespace nvmemu::preload
