// SPDX-License-Identifier: Apache-2.0
// How a ThreadState works, and has what is owed paid: for its own .cc files.
#pragma once

#include "keep_errno.h"
#include "runtime.h"
#include "signal_mask.h"
#include "thread_state.h"

namespace nvmemu::preload {

// All of the program's signals are blocked while it lives: on its threads outside of handlers.
class Quiet {
 public:
  Quiet() noexcept : programs_(set_signal_mask(kAllButForced)) {}
  ~Quiet() { set_signal_mask(programs_); }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;
  SignalMask programs() const noexcept { return programs_; }

 private:
  ThreadState::AtWork at_work_;
  SignalMask programs_;
};

// Not inlined: its frame is gone before the wait, which is on the program's stack.
template <typename Work>
[[gnu::noinline]] bool ThreadState::work(Work work) noexcept {
  if (stack_.run(work)) return true;
  // Whatever it was amid stays as it is; nothing but the ticker, which lies apart, is touched any more.
  ready_.store(false, std::memory_order_relaxed);
  Runtime::get().warn(kEmulatorFailed);
  stack_.run([this] { source_->close(); });
  return false;
}

// Whether what is due then is to be waited for. Not inlined either, for the same reason.
template <typename Book>
[[gnu::noinline]] bool ThreadState::is_due_after(const Book& book) {
  bool waits = false;
  const auto book_and_see = [&] {
    settle();
    const KeepErrno keep;
    tell_device_waits();
    if (!book()) return;
    waits = emulator().must_wait();
    if (!waits) settle();
  };
  return work(book_and_see) && waits;
}

template <typename Book>
void ThreadState::pay(SignalMask programs_mask, const Book& book) {
  if (is_due_after(book)) wait(programs_mask);
}

}  // namespace nvmemu::preload
