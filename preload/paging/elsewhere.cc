// SPDX-License-Identifier: Apache-2.0
// Where system calls cannot be looked at: memory is not paged.
#include "kernel_signals.h"
#include "paging/fault_thread.h"
#include "paging/traps.h"

namespace nvmemu::preload {

Result<void> start_traps(const ProcessMemory&) { return failure("memory is paged on x86-64 only"); }
KernelAction adopted(int, KernelAction action) noexcept { return action; }
bool end_paging() noexcept { return true; }
bool answer_trapped_call(const siginfo_t&, ucontext_t&) noexcept { return false; }
void* programs_trap_handler(const ucontext_t&) noexcept { return nullptr; }
bool is_on_signal_stack(const ucontext_t&) noexcept { return false; }
bool FaultThread::start(UffdMapper&, Pager&) noexcept { return false; }
void FaultThread::tell(Told) noexcept {}
bool mend_page_fault(const siginfo_t&, const ucontext_t&) noexcept { return false; }

}  // namespace nvmemu::preload
