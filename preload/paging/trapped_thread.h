// SPDX-License-Identifier: Apache-2.0
// What is known of each thread whose system calls are looked at. Found by the thread's number: nothing
// thread-local is touched, and threads that nobody told of have it, too. Async-signal-safe; a thread's own
// handlers are all that uses it, with the program's signals blocked.
#pragma once

#include <signal.h>

#include <atomic>
#include <cstdint>

#include "paging/calls_under_way.h"

namespace nvmemu::preload {

// Lies above a signal stack of the emulator's own.
struct TrappedThread {
  stack_t programs_stack;  // as the program has set it
  bool has_programs_stack;
  stack_t next_stack;  // that the kernel is to be told of
  CallsUnderWay calls;
  unsigned tries;          // of one call
  std::uintptr_t left_at;  // where it has last faulted in what is not paged any more,
  unsigned left_tries;     // and how often in a row
};

// The calling thread's, from its begin on. Null where there were too many threads, or no memory, then. What
// is pinned in it was needed for the end of the thread that had it before.
TrappedThread* begin_trapped_thread() noexcept;
TrappedThread* trapped_thread() noexcept;
stack_t own_signal_stack(const TrappedThread& thread) noexcept;
// Whether that is on the stack that the kernel has of it for signals.
bool is_on_signal_stack(const TrappedThread& thread, std::uintptr_t stack_pointer) noexcept;
bool lies_on(const stack_t& stack, std::uintptr_t stack_pointer) noexcept;
// The calling thread ends.
void end_trapped_thread() noexcept;
// Whether any thread but the process's first, which is ending, may still run in this memory: one whose calls
// are looked at, or whose last one was.
bool have_threads_but_first() noexcept;
// In the child of a fork, by the thread that had this there: it is alone now.
TrappedThread* keep_only(TrappedThread& thread) noexcept;

}  // namespace nvmemu::preload
