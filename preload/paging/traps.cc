// SPDX-License-Identifier: Apache-2.0
#include "paging/traps.h"

#include <sys/prctl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include "asked_memory.h"
#include "base/program_counter.h"
#include "base/syscall_dispatch.h"
#include "calling_thread.h"
#include "kernel_signals.h"
#include "loaded_program.h"
#include "paging/call_stubs.h"
#include "paging/process_pager.h"
#include "paging/trapped_call.h"
#include "signal_entry.h"
#include "storage/process_storage.h"

namespace nvmemu::preload {
namespace {

// Of calls that this library's own code does not make: all are looked at, or, for all threads from then on,
// none.
constexpr char kNone = 0, kAll = 1;
static_assert(sizeof nvmemu_dispatch_selector == 1);  // as the kernel reads it

constinit CodeRange own_code{};

bool install_handler() noexcept {
  const KernelAction action{.handler = reinterpret_cast<std::uintptr_t>(&nvmemu_signal_entry),
                            .flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | kHasRestorer,
                            .restorer = sigreturn_stub(),
                            .mask = kAllButForced};
  return raw_syscall(SYS_rt_sigaction, SIGSYS, &action, nullptr, sizeof action.mask) == 0;
}

// Signals arrive on the stack of whoever runs, and so may the kernel's frames for pages: such memory is no
// longer paged.
void spare_stack(std::uintptr_t stack_pointer) noexcept {
  constexpr std::uintptr_t kBelow = 256 << 10, kAbove = 64 << 10;
  Pager& pager = *ProcessPager::get();
  const AddressRange paged = pager.range_at(stack_pointer);
  if (paged.empty()) return;
  const std::uintptr_t page = stack_pointer & ~(kPageBytes - 1);
  pager.release(intersection(paged, {page - std::min(page, kBelow), page + kAbove}));
}

// What it is given the address of is not there, however often it is brought in.
bool has_failed_for_good(const TrappedCall& call) noexcept {
  constexpr unsigned kMostTries = 16;
  if (call.thread() == nullptr) return call.is_tried_again();
  call.thread()->tries = call.is_tried_again() ? call.thread()->tries + 1 : 0;
  return call.thread()->tries > kMostTries;
}

// Where the vDSO cannot tell the time (its clock source is none that a program can read), it asks the kernel.
// The call may be this library's own, amid work on pages, whose lock it holds: so it is made before anything
// is looked at. Only what it is to write to may be missing, and is none of the library's then.
bool answer_clock_call(TrappedCall& call) noexcept {
  if (call.number() != SYS_clock_gettime) return false;
  const long result = call.make();
  if (result == -EFAULT) return false;
  call.return_with(result);
  return true;
}

// Another thread has had it released while this one's fault was on its way: by now it is there, and is tried
// again. What the kernel can read, and the thread still cannot write, faults for good.
bool has_left(std::uintptr_t address) noexcept {
  constexpr unsigned kMostTries = 16;
  TrappedThread* const thread = trapped_thread();
  if (thread == nullptr || !kernel_reads_word(address & ~std::uintptr_t{7})) return false;
  thread->left_tries = thread->left_at == address ? thread->left_tries + 1 : 0;
  thread->left_at = address;
  return thread->left_tries < kMostTries;
}

void note_mended(const ucontext_t& context) noexcept {
  const Thread thread = calling_thread();
  if (thread.state != nullptr && !thread.is_foreign) thread.state->note_fault(program_counter(context));
}

void unpin(AddressRange range) noexcept { ProcessPager::get()->unpin(range); }

bool dispatch() noexcept {
  return raw_syscall(SYS_prctl, kSetDispatch, kDispatchOn, own_code.begin, own_code.end - own_code.begin,
                     &nvmemu_dispatch_selector) == 0;
}

}  // namespace

void release_pins(TrappedThread& thread) noexcept { thread.calls.unpin_innermost(unpin); }

bool trap_calls() noexcept {
  TrappedThread* const thread = begin_trapped_thread();
  if (thread == nullptr) return false;
  stack_t now{};
  raw_syscall(SYS_sigaltstack, nullptr, &now);
  thread->has_programs_stack = (now.ss_flags & SS_DISABLE) == 0;
  thread->programs_stack = now;
  return (thread->has_programs_stack || use_own_signal_stack(*thread)) && dispatch();
}

bool use_own_signal_stack(TrappedThread& thread) noexcept {
  const stack_t own = own_signal_stack(thread);
  return own.ss_size > 0 && raw_syscall(SYS_sigaltstack, &own, nullptr) == 0;
}

void trap_calls_of_new_thread() noexcept {
  TrappedThread* const thread = begin_trapped_thread();
  if (thread != nullptr) {
    thread->calls.end_all(unpin);
    use_own_signal_stack(*thread);
  }
  dispatch();
}

void trap_calls_again() noexcept { dispatch(); }

void end_traps() noexcept {
  nvmemu_dispatch_selector = kNone;
  process_storage().set_calls_are_trapped(false);
  raw_syscall(SYS_prctl, kSetDispatch, kDispatchOff, 0, 0, 0);
}

Result<void> start_traps(const ProcessMemory& before) {
  own_code = code_around(reinterpret_cast<const void*>(&start_traps));
  nvmemu_dispatch_selector = kAll;
  begin_own_process();
  begin_heap();
  begin_limits(before);
  adopt_handlers();
  const SignalMask open = kPagingSignals;
  raw_syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &open, nullptr, sizeof open);
  if (!install_handler() || !trap_calls())
    return failure("prctl(PR_SET_SYSCALL_USER_DISPATCH) is refused", "Linux 5.11 and later have it");
  process_storage().set_calls_are_trapped(true);
  return {};
}

bool is_on_signal_stack(const ucontext_t& context) noexcept {
  const TrappedThread* const thread = trapped_thread();
  return thread != nullptr &&
         is_on_signal_stack(*thread, static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RSP]));
}

bool answer_trapped_call(const siginfo_t& info, ucontext_t& context) noexcept {
  if (ProcessPager::get() == nullptr || info.si_code != kDispatched) return false;
  if (TrappedCall call(context, nullptr); answer_clock_call(call)) return true;
  TrappedCall call(context, trapped_thread());
  ProcessPager::tally().trapped_calls.fetch_add(1, std::memory_order_relaxed);
  if (TrappedThread* const thread = call.thread())
    thread->calls.begin(call.stack_pointer(), is_on_signal_stack(*thread, call.stack_pointer()), unpin);
  if (has_failed_for_good(call)) {
    call.return_with(-EFAULT);
    return true;
  }
  spare_stack(call.stack_pointer());
  if (answer_mapping_call(call) || answer_signal_call(call) || answer_process_call(call) ||
      answer_limit_call(call) || answer_stored_call(call) || answer_descriptor_call(call))
    return true;
  prepare_buffers(call);
  return true;
}

bool mend_page_fault(const siginfo_t& info, const ucontext_t& context) noexcept {
  if (ProcessPager::get() == nullptr || info.si_code != BUS_ADRERR) return false;
  constexpr greg_t kWrite = 1 << 1;
  const auto address = reinterpret_cast<std::uintptr_t>(info.si_addr);
  const bool writes = (context.uc_mcontext.gregs[REG_ERR] & kWrite) != 0;
  const FaultOutcome outcome = ProcessPager::get()->fault(address, writes);
  if (outcome == FaultOutcome::kNotOurs) return has_left(address);
  if (outcome != FaultOutcome::kMended) return false;
  spare_stack(static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RSP]));
  note_mended(context);
  return true;
}

void TrappedCall::need(AddressRange range, bool to_write) noexcept {
  if (range.empty()) return;
  Pager& pager = *ProcessPager::get();
  if (!pager.pin(range, to_write)) return;  // the call will say what it finds
  if (thread_ == nullptr || !thread_->calls.add_pin(range)) pager.unpin(range);
}

bool TrappedCall::can_read(std::uintptr_t at, std::size_t bytes) noexcept {
  need({at, at + bytes}, false);
  return kernel_reads(at, bytes);
}

}  // namespace nvmemu::preload
