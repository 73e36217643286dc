// SPDX-License-Identifier: Apache-2.0
// Which thread pointers (%fs on x86-64, TPIDR_EL0 on arm64) are the C library's. A runtime may give a thread
// one of its own (Go does); while it does, nothing thread-local may be touched, errno included.
#pragma once

namespace nvmemu::preload {

// Of the calling thread, which is one of the C library's. False where there is no more room.
bool add_thread_pointer() noexcept;
void remove_thread_pointer() noexcept;

// Whether the calling thread has one that was added. Async-signal-safe, and touches nothing thread-local.
bool has_known_thread_pointer() noexcept;

// Whether code that reads the stack protector's value through the calling thread's could run. Likewise; may
// raise SIGSEGV within fault_range().
bool has_readable_thread_pointer() noexcept;

// Whether an instruction tells it, and no system call is made.
bool reads_thread_pointer_itself() noexcept;

}  // namespace nvmemu::preload
