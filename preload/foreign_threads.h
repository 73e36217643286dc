// SPDX-License-Identifier: Apache-2.0
// Threads that the C library did not make: clone(2) did, or they are older than this library. Nothing
// thread-local is theirs (their thread pointer may be their creator's, or anything), so that they are told by
// their number, and their state is in a table. They pay at the ends of epochs, not at edges.
#pragma once

#include "thread_state.h"

namespace nvmemu::preload {

// Of each thread of the C library's that is, or was, emulated: it is none of these, to its end. One that runs
// natively by then is to be left alone.
void add_known_thread(int tid) noexcept;
void remove_known_thread(int tid) noexcept;

// The calling thread's state; null where it is not one of these. Async-signal-safe, and touches nothing
// thread-local.
ThreadState* foreign_thread() noexcept;

// Begins to emulate the calling thread, which clone(2) has just made; null where there is no room. It is to
// be ended with end_foreign_thread(). Touches nothing thread-local.
ThreadState* begin_foreign_thread() noexcept;
void end_foreign_thread(ThreadState* state) noexcept;

// Every 100 ms at most: begins to emulate threads that nobody has told of, and forgets those that are gone.
// Async-signal-safe, and touches nothing thread-local.
void find_foreign_threads() noexcept;

// In the child of a fork: there is none but the calling thread.
void abandon_foreign_threads() noexcept;

}  // namespace nvmemu::preload
