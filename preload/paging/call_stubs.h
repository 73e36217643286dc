// SPDX-License-Identifier: Apache-2.0
// Where the program's system calls are made when they have been looked at: in this library's code, which the
// kernel lets through, on the program's own stack, with its registers and its mask. From there the program
// goes on behind its own instruction; or at it, once more, where the call says EFAULT: a handler of the
// program's that came between may have had its memory taken out again.
#pragma once

#include <atomic>
#include <cstdint>

namespace nvmemu::preload {

// In the number of a call that is tried again.
inline constexpr long kTriedAgain = 0x40000000;

// The code that makes a call for the instruction before `return_to`, and goes back there, of a call after
// which somebody else goes on, too, in the same memory: clone(2), vfork(2). He calls nvmemu_begin_cloned()
// first. 0: there are too many such instructions. Thread-safe, async-signal-safe.
std::uintptr_t clone_stub_for(std::uintptr_t return_to) noexcept;
// rt_sigreturn(2), with the stack pointer at the frame.
std::uintptr_t sigreturn_stub() noexcept;

}  // namespace nvmemu::preload

extern "C" {
// As prctl(2) has it (PR_SET_SYSCALL_USER_DISPATCH): whether calls are looked at. 0: those that say EFAULT
// are not tried again either.
extern __attribute__((visibility("hidden"))) std::atomic<char> nvmemu_dispatch_selector;
// Defined where threads are known. On the new one's stack, with nothing thread-local.
void nvmemu_begin_cloned() noexcept;
}
