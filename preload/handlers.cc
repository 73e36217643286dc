// SPDX-License-Identifier: Apache-2.0
#include "handlers.h"

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdint>

#include "base/program_counter.h"
#include "base/raw_syscall.h"
#include "calling_thread.h"
#include "counters/sampler/code/guarded_read.h"
#include "endings.h"
#include "foreign_threads.h"
#include "kept_signals.h"
#include "kernel_signals.h"
#include "own_fault.h"
#include "paging/process_pager.h"
#include "paging/traps.h"
#include "program_signals.h"
#include "runtime.h"
#include "signal_entry.h"
#include "signal_mask.h"
#include "thread_pointers.h"
#include "thread_state.h"
#include "walk/guarded_access.h"

namespace nvmemu::preload {
namespace {

bool is_tick(int signal, const siginfo_t& info) {
  if (signal != kTickSignal) return false;
  // perf_event's asynchronous notification carries a POLL_ code (> 0, below the kernel's own SI_KERNEL).
  constexpr int kFirstKernelCode = 0x80;
  const bool from_event = info.si_code > 0 && info.si_code < kFirstKernelCode;
  return from_event || (info.si_code == SI_TIMER && TimerTicker::owns(info.si_value.sival_ptr));
}

// Whether the fault was a guarded read's or a walk's, which now goes on behind it.
bool mend_fault(int signal, ucontext_t& interrupted) noexcept {
  if (!is_fault(signal)) return false;
  if (leave_walk(interrupted)) return true;
  const std::uintptr_t pc = program_counter(interrupted);
  const FaultRange range = fault_range();
  if (pc < range.begin || pc >= range.end) return false;
  set_program_counter(interrupted, range.resume);
  return true;
}

// Of the emulator's code wherever it runs, and not sent.
bool is_own_fault(int signal, const siginfo_t& info, const ucontext_t& context) noexcept {
  return is_fault(signal) && info.si_code > 0 && is_own_code(program_counter(context));
}

// Sent by somebody, amid the emulator's work on a page or a call of the program's: a handler of the program's
// would wait for that work. Such work is on the thread's stack for signals, with all blocked that can be, as
// no handler of the program's has it: of the C library's own two signals it has nothing to say.
bool comes_amid_paging(int signal, const siginfo_t& info, const ucontext_t& context) noexcept {
  constexpr SignalMask kNever = mask_of(SIGKILL) | mask_of(SIGSTOP);  // blocked, whatever is asked for
  return (mask_of(signal) & kForced) != 0 && info.si_code <= 0 && ProcessPager::get() != nullptr &&
         (mask_of(context.uc_sigmask) | kForced | kNever) == ~SignalMask{0} && is_on_signal_stack(context);
}

// The thread goes on with what it is at, and the signal comes again when that is done: not here, where some
// are open.
void put_off(int signal, const siginfo_t& info, ucontext_t& context) noexcept {
  const SignalMask its = mask_of(signal);
  add_to(context.uc_sigmask, its);
  raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, &its, nullptr, sizeof its);
  raw_syscall(SYS_rt_tgsigqueueinfo, raw_syscall(SYS_getpid), raw_syscall(SYS_gettid), signal, &info);
}

// What comes while the emulator works, with all blocked that can be: a fault of its own, or what somebody has
// sent, which then comes again when it has done.
void interrupt_work(ThreadState& state, int signal, const siginfo_t& info, ucontext_t& context) noexcept {
  if (is_fault(signal) && info.si_code > 0) {
    say_own_fault(signal, info, context);
    return state.leave_work(context);
  }
  put_off(signal, info, context);
}

// What the emulator reads of the program's memory may fault, which ends a process that has that blocked. The
// program's mask is back when the handler returns. False where one that has been sent waits for that: it
// would come now.
bool open_faults(const ucontext_t& context) noexcept {
  if ((mask_of(context.uc_sigmask) & kForced) == 0) return true;
  SignalMask pending = 0;
  raw_syscall(SYS_rt_sigpending, &pending, sizeof pending);
  if ((pending & kForced) != 0) return false;
  set_signal_mask(kAllButForced);
  return true;
}

// Code that reads the stack protector's value through the thread's pointer must not fault for it. What a tick
// that is passed over would have told, the next one does.
void handle_tick(const Thread& thread, const ucontext_t& context) {
  const ThreadState::AtWork at_work;
  if (!open_faults(context)) return;
  if (!thread.is_foreign) return thread.state->on_tick(context);
  if (has_readable_thread_pointer()) thread.state->on_foreign_tick(context);
}

// The program's own signal was pending when the tick fell due.
bool has_lost_tick(const Thread& thread, int signal) noexcept {
  return signal == kTickSignal && thread.state != nullptr && !thread.is_foreign &&
         thread.state->has_lost_tick();
}

// To the thread or to the process, as it was sent, and with what was sent along.
void send_again(int signal, const siginfo_t& info) noexcept {
  const long process = raw_syscall(SYS_getpid);
  if (info.si_code == SI_TKILL) {
    raw_syscall(SYS_rt_tgsigqueueinfo, process, raw_syscall(SYS_gettid), signal, &info);
  } else {
    raw_syscall(SYS_rt_sigqueueinfo, process, signal, &info);
  }
}

// A tick that is pending, which comes by the same signal: no such signal has come.
void drop_pending(int signal) noexcept {
  const SignalMask set = mask_of(signal);
  const timespec at_once{};
  while (raw_syscall(SYS_rt_sigtimedwait, &set, nullptr, &at_once, sizeof set) == signal) {
  }
}

// What the program has blocked it may wait for by a descriptor, or when it likes. The kernel keeps it,
// blocked as the program has it; and no tick may come any more, which would be taken for another.
bool keep_for_program(const Thread& thread, int signal, const siginfo_t& info, ucontext_t& context) {
  const bool is_programs_own = thread.state != nullptr && !thread.is_foreign;
  if (signal != kTickSignal || !is_programs_own || !has_ticks_blocked(mask_of(context.uc_sigmask)))
    return false;
  Runtime::get().warn(kTickSignalKept);
  add_to(context.uc_sigmask, mask_of(signal));
  thread.state->end(mask_of(context.uc_sigmask));
  drop_pending(signal);
  send_again(signal, info);
  return true;
}

// The process ends, unless the thread cannot tell: then what faulted faults again, and what was sent is lost.
// (By a fault of the emulator's own it ends at once: to account for it would take what is broken.)
void end_process_by(const Thread& thread, int signal, const siginfo_t& info, const ucontext_t& context) {
  if (thread.state != nullptr && !thread.is_foreign) return end_by(signal, info, mask_of(context.uc_sigmask));
  end_at_once(signal, info);
}

// All but ticks, apart from them: during one the thread waits on the program's stack, with little below.
[[gnu::noinline]] __attribute__((no_stack_protector)) void* answer(const Thread& thread, int signal,
                                                                   const siginfo_t& info,
                                                                   ucontext_t& context) {
  if (keep_for_program(thread, signal, info, context)) return nullptr;
  if (!is_kept(signal)) {
    end_process_by(thread, signal, info, context);
    return nullptr;
  }
  const bool is_own = is_own_fault(signal, info, context);
  if (is_own) say_own_fault(signal, info, context);
  const Wish wish = wish_of_program(signal, info, context);
  if (wish.ends) is_own ? end_at_once(signal, info) : end_process_by(thread, signal, info, context);
  return reinterpret_cast<void*>(wish.handler);
}

}  // namespace

bool handlers_in_place() noexcept {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
    KernelAction action{};
    raw_syscall(SYS_rt_sigaction, signal, nullptr, &action, sizeof action.mask);
    if (action.handler != reinterpret_cast<std::uintptr_t>(&nvmemu_signal_entry)) return false;
  }
  return true;
}

}  // namespace nvmemu::preload

using namespace nvmemu;
using namespace nvmemu::preload;

// What runs first, and on the program's stack: little, and nothing thread-local before it is known that it
// may be, which the compiler's stack protector is too.
__attribute__((no_stack_protector)) void* nvmemu_handle_signal(int signal, siginfo_t* info,
                                                               ucontext_t* context) {
  if (mend_fault(signal, *context)) return nullptr;
  if (comes_amid_paging(signal, *info, *context)) {
    put_off(signal, *info, *context);
    return nullptr;
  }
  if (signal == SIGBUS && mend_page_fault(*info, *context)) return nullptr;
  if (signal == SIGSYS && answer_trapped_call(*info, *context)) return nullptr;
  if (void* const handler = signal == SIGSYS ? programs_trap_handler(*context) : nullptr) return handler;
  const Thread thread = calling_thread();
  if (thread.state != nullptr && thread.state->is_at_work()) {
    interrupt_work(*thread.state, signal, *info, *context);
    return nullptr;
  }
  // In one place, so that it is no call of its own: little is to lie below while the thread waits.
  const bool ticks = is_tick(signal, *info);
  if ((ticks && thread.state != nullptr) || has_lost_tick(thread, signal)) handle_tick(thread, *context);
  if (ticks) return nullptr;
  return answer(thread, signal, *info, *context);
}
