// SPDX-License-Identifier: Apache-2.0
// Where memory is paged: each of the program's system calls is looked at before it is made (syscall user
// dispatch, Linux 5.11), since the kernel does not page in what it is given the address of; and what changes
// the process's memory is told to the pager. x86-64 only.
//
// A call is not made by the handler, but by the program's thread when that has returned, in a stub
// (call_stubs.h): it waits, is interrupted and restarted as it would be otherwise. Only calls that do not
// wait and change memory, signals or processes are made, or stood in for, in the handler.
#pragma once

#include <signal.h>
#include <ucontext.h>

#include "base/result.h"
#include "process_memory.h"

namespace nvmemu::preload {

// From now on, for the calling thread and those that it makes. `before`: what the process had mapped without
// the emulator. An error where this kernel cannot.
Result<void> start_traps(const ProcessMemory& before);

// A filter of system calls may forbid what the pager cannot do without. A tracer is told of its signals, each
// of which stops the program: for ever, where the tracer waits in vfork(2). So all is brought in before, and
// stays. False where some of it cannot be: its pages are still to come, so that there must be no filter and
// no tracer. True where nothing is paged.
bool end_paging() noexcept;

// SIGSYS: whether it was for a system call, which is made, or about to be, when the handler returns.
bool answer_trapped_call(const siginfo_t& info, ucontext_t& context) noexcept;
// What the program has set for a SIGSYS of another kind, with the mask that it is to have in force; null:
// nothing.
void* programs_trap_handler(const ucontext_t& context) noexcept;
// Whether the thread was on its stack for signals, as the handlers of these two always are.
bool is_on_signal_stack(const ucontext_t& context) noexcept;

// SIGBUS: whether a page was missing, which is there now.
bool mend_page_fault(const siginfo_t& info, const ucontext_t& context) noexcept;

}  // namespace nvmemu::preload
