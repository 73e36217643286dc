// SPDX-License-Identifier: Apache-2.0
// A thread of the emulator's that brings the pages that this process touches, in its own code or in the
// kernel's (--page-handler thread). The C library does not know it, and it has no part in what the program
// does: all signals are blocked on it, its stack and what stands for thread-local storage are its own and
// never paged, its system calls are not looked at, and nobody samples it. It waits for the device for all who
// wait for it at once.
//
// It ends when it is the last, and as the one before: a process whose threads have all ended would go on by
// it otherwise.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "paging/fault_queue.h"
#include "paging/pager.h"
#include "paging/uffd_mapper.h"

namespace nvmemu::preload {

// That a sleep may end later than asked for.
inline constexpr std::uint64_t kSleepsLateNs = 60'000;

class FaultThread {
 public:
  // Makes it, in the child of a fork anew. False where the kernel refuses. Async-signal-safe, as all of this.
  bool start(UffdMapper& mapper, Pager& pager) noexcept;
  // No page is missing any more, whatever happens.
  void stop() noexcept { tell(kStop); }
  // A thread is about to end by itself, not with the process. One of a child of vfork is none of this
  // process's.
  void thread_ends(int tid, long status) noexcept {
    last_status_.store(status, std::memory_order_relaxed);
    if (tid == process_) tell(kFirstEnds);
  }

  int tid() const noexcept { return tid_.load(std::memory_order_relaxed); }  // 0: there is none
  int descriptor() const noexcept { return told_; }
  // User-mode CPU time of its own, to some milliseconds.
  std::uint64_t user_ns() const noexcept { return user_ns_.load(std::memory_order_relaxed); }

 private:
  enum Told : std::uint64_t { kFirstEnds = 1, kStop = std::uint64_t{1} << 32 };

  static void run(void* self) noexcept;
  void serve() noexcept;
  void begin_new() noexcept;
  void end_due() noexcept;
  void answer(std::uintptr_t address, FaultOutcome outcome) noexcept;
  bool wait() noexcept;
  std::uint64_t sleep_ns() noexcept;
  void note_time() noexcept;
  void tell(Told what) noexcept;

  UffdMapper* mapper_ = nullptr;
  Pager* pager_ = nullptr;
  std::byte* area_ = nullptr;
  int told_ = -1;  // an eventfd
  int process_ = 0;
  FaultQueue queue_;
  bool first_has_ended_ = false;
  std::uint64_t noted_ns_ = 0;
  std::atomic<int> tid_{0};
  std::atomic<long> last_status_{0};
  std::atomic<std::uint64_t> user_ns_{0};
};

}  // namespace nvmemu::preload
