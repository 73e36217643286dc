// SPDX-License-Identifier: Apache-2.0
// Beginnings and ends, of the library in its process and of threads.
#pragma once

namespace nvmemu::preload {

// Once, before any thread begins. False where the C library has no room for one more thread key.
bool prepare_threads() noexcept;

// On a thread that has just started, and on the first one.
void begin_thread() noexcept;

// Around what copies the process: before it, and in the parent after it, whether there is a child or not.
// Async-signal-safe.
void copy_for_child() noexcept;
void end_fork() noexcept;
// Behind a call that has returned to both, as fork(2) does: one or the other.
void go_on_after_fork(long child) noexcept;

// In the child of a fork, or of whatever else copies the process: it is a process of its own.
void begin_forked_child() noexcept;

// Registers what runs in a fork's child, at quick_exit and when a signal ends the process.
void prepare_process() noexcept;

// The last epoch, where the process is about to end without more ado. Async-signal-safe.
void end_process_now() noexcept;

// Where this process reports on itself: writes the report and the summary. Once.
void report_itself();

// Likewise where nothing may be allocated: says that there is no report. Async-signal-safe.
void renounce_report();

}  // namespace nvmemu::preload
