// SPDX-License-Identifier: Apache-2.0
// What the program does with signals: those of pages and of calls stay open, whatever it blocks, and their
// handlers in place, on a stack that is never paged.
#include <signal.h>
#include <sys/syscall.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "asked_memory.h"
#include "kept_signals.h"
#include "kernel_signals.h"
#include "paging/call_stubs.h"
#include "paging/process_pager.h"
#include "paging/trapped_call.h"
#include "paging/traps.h"
#include "signal_entry.h"

namespace nvmemu::preload {
namespace {

// Of SIGSYS.
constinit std::atomic<std::uintptr_t> programs_handler{0};
constinit std::atomic<SignalMask> programs_mask{0};

constinit std::atomic<int> own_process{0};
bool has_own_memory() noexcept { return raw_syscall(SYS_getpid) == own_process; }

// By which the C library ends threads (SIGCANCEL): it looks where the thread is, and for the place where it
// makes a call.
constexpr int kCancelSignal = 32;
constinit std::atomic<std::uintptr_t> cancel_handler{0};

__attribute__((no_stack_protector)) void cancel_where_calls_are(int signal, siginfo_t* info, void* context) {
  TrappedCall::take_back(*static_cast<ucontext_t*>(context));
  reinterpret_cast<void (*)(int, siginfo_t*, void*)>(cancel_handler.load())(signal, info, context);
}

std::uintptr_t cancel_entry() noexcept { return reinterpret_cast<std::uintptr_t>(&cancel_where_calls_are); }

bool is_function(std::uintptr_t handler) noexcept {
  return handler > reinterpret_cast<std::uintptr_t>(SIG_IGN);
}

// (The child of a vfork has its maker's memory, which is paged until the child is another program. What is
// kept of handlers there is its maker's, too, and stays.)
//
// Of the signal of pages, by a program that goes round the C library: `action`, or none. Its handler is
// called behind the emulator's, as one that is set by sigaction(3).
long set_action_behind(TrappedCall& call, const KernelAction* action) noexcept {
  const KernelAction before = as_kernel_has(kept_action(SIGBUS));
  if (const std::uintptr_t old = call.argument(2); old != 0) {
    if (!kernel_writes_mask(old) || !kernel_writes_mask(old + sizeof before - sizeof(SignalMask)))
      return -EFAULT;
    std::memcpy(reinterpret_cast<void*>(old), &before, sizeof before);
  }
  if (action == nullptr || !has_own_memory()) return 0;
  const KernelAction with = adopted(SIGBUS, as_kernel_has(keep_action(SIGBUS, as_library_has(*action))));
  return raw_syscall(SYS_rt_sigaction, SIGBUS, &with, nullptr, sizeof with.mask);
}

long set_action(TrappedCall& call) noexcept {
  const auto signal = static_cast<int>(call.argument(0));
  const std::uintptr_t at = call.argument(1);
  const std::uintptr_t old = call.argument(2);
  KernelAction action{};
  if (at != 0) {
    if (!call.can_read(at, sizeof action)) return -EFAULT;
    std::memcpy(&action, reinterpret_cast<const void*>(at), sizeof action);
  }
  if (old != 0) call.need({old, old + sizeof action}, true);
  if (at == 0 && signal != SIGSYS && signal != SIGBUS) return call.make();
  const bool is_own = action.handler == reinterpret_cast<std::uintptr_t>(&nvmemu_signal_entry);
  if (signal == SIGBUS && !is_own) return set_action_behind(call, at != 0 ? &action : nullptr);
  if (signal == SIGSYS) {
    const long result = raw_syscall(SYS_rt_sigaction, signal, nullptr, old, call.argument(3));
    if (result != 0 || at == 0 || !has_own_memory()) return result;
    programs_mask = action.mask;
    programs_handler = is_function(action.handler) && !is_own ? action.handler : 0;
    return result;
  }
  const KernelAction with = adopted(signal, action);
  return raw_syscall(SYS_rt_sigaction, signal, &with, old, call.argument(3));
}

// The mask that is in force when the handler returns is in its context.
long set_mask(TrappedCall& call) noexcept {
  const std::uintptr_t at = call.argument(1), old = call.argument(2);
  if (call.argument(3) != sizeof(SignalMask)) return -EINVAL;
  const SignalMask before = mask_of(call.context().uc_sigmask);
  SignalMask after = before;
  if (at != 0) {
    if (!call.can_read(at, sizeof(SignalMask))) return -EFAULT;
    SignalMask named;
    std::memcpy(&named, reinterpret_cast<const void*>(at), sizeof named);
    switch (static_cast<int>(call.argument(0))) {
      case SIG_BLOCK:
        after = before | named;
        break;
      case SIG_UNBLOCK:
        after = before & ~named;
        break;
      case SIG_SETMASK:
        after = named;
        break;
      default:
        return -EINVAL;
    }
  }
  if (old != 0) {
    call.need({old, old + sizeof(SignalMask)}, true);
    if (!kernel_writes_mask(old)) return -EFAULT;
    std::memcpy(reinterpret_cast<void*>(old), &before, sizeof before);
  }
  after &= ~(kPagingSignals | mask_of(SIGKILL) | mask_of(SIGSTOP));
  std::memcpy(&call.context().uc_sigmask, &after, sizeof after);
  return 0;
}

// What the program sees is its own; where it has none, the kernel has the emulator's. The handler itself may
// run on either, and the kernel changes none that is in use: so it is told when the handler has returned.
void set_signal_stack(TrappedCall& call) noexcept {
  TrappedThread* const thread = call.thread();
  const std::uintptr_t at = call.argument(0), old = call.argument(1);
  if (thread == nullptr) return call.return_with(-ENOMEM);
  stack_t wanted{};
  if (at != 0) {
    if (!call.can_read(at, sizeof wanted)) return call.return_with(-EFAULT);
    std::memcpy(&wanted, reinterpret_cast<const void*>(at), sizeof wanted);
  }
  stack_t before{};
  before.ss_flags = SS_DISABLE;
  if (thread->has_programs_stack) {
    before = thread->programs_stack;
    before.ss_flags = lies_on(before, call.stack_pointer()) ? SS_ONSTACK : 0;
  }
  if (old != 0) {
    call.need({old, old + sizeof before}, true);
    if (!kernel_writes_mask(old) || !kernel_writes_mask(old + sizeof before - sizeof(SignalMask)))
      return call.return_with(-EFAULT);
    std::memcpy(reinterpret_cast<void*>(old), &before, sizeof before);
  }
  if (at == 0) return call.return_with(0);
  if (before.ss_flags == SS_ONSTACK) return call.return_with(-EPERM);
  const bool disables = (wanted.ss_flags & SS_DISABLE) != 0;
  if (!disables && wanted.ss_size < static_cast<std::size_t>(MINSIGSTKSZ)) return call.return_with(-ENOMEM);
  if (!disables) {
    const auto begin = reinterpret_cast<std::uintptr_t>(wanted.ss_sp);
    ProcessPager::get()->release({begin & ~(kPageBytes - 1), begin + wanted.ss_size});
    thread->programs_stack = wanted;
  }
  thread->has_programs_stack = !disables;
  thread->next_stack = disables ? own_signal_stack(*thread) : wanted;
  call.set_argument(0, reinterpret_cast<std::uintptr_t>(&thread->next_stack));
  call.set_argument(1, 0);
  call.make_in_stub();
}

// A call that waits with another mask, of which there is a copy as long as it is under way.
void open_signals(TrappedCall& call, int argument) noexcept {
  TrappedThread* const thread = call.thread();
  const std::uintptr_t at = call.argument(argument);
  if (thread == nullptr || at == 0 || !call.can_read(at, sizeof(SignalMask))) return;
  SignalMask& mask = thread->calls.innermost().mask;
  std::memcpy(&mask, reinterpret_cast<const void*>(at), sizeof mask);
  mask &= ~kPagingSignals;
  call.set_argument(argument, reinterpret_cast<std::uintptr_t>(&mask));
}

// pselect(2) has it with its size in a struct.
void open_signals_of_select(TrappedCall& call) noexcept {
  TrappedThread* const thread = call.thread();
  const std::uintptr_t at = call.argument(5);
  if (thread == nullptr || at == 0 || !call.can_read(at, sizeof(CallUnderWay::mask_and_size))) return;
  CallUnderWay& its = thread->calls.innermost();
  std::memcpy(its.mask_and_size, reinterpret_cast<const void*>(at), sizeof its.mask_and_size);
  const std::uintptr_t mask = its.mask_and_size[0];
  if (mask == 0 || !call.can_read(mask, sizeof its.mask)) return;
  std::memcpy(&its.mask, reinterpret_cast<const void*>(mask), sizeof its.mask);
  its.mask &= ~kPagingSignals;
  its.mask_and_size[0] = reinterpret_cast<std::uintptr_t>(&its.mask);
  call.set_argument(5, reinterpret_cast<std::uintptr_t>(its.mask_and_size));
}

// The frame that is returned to lies at the stack pointer: what it restores must not block these either.
void return_from_handler(TrappedCall& call) noexcept {
  const std::uintptr_t frame = call.stack_pointer();
  if (call.can_read(frame, sizeof(ucontext_t) - sizeof(ucontext_t::__fpregs_mem))) {
    auto& context = *reinterpret_cast<ucontext_t*>(frame);
    const SignalMask mask = mask_of(context.uc_sigmask) & ~kPagingSignals;
    std::memcpy(&context.uc_sigmask, &mask, sizeof mask);
  }
  call.go_on_at(sigreturn_stub());
}

}  // namespace

void* programs_trap_handler(const ucontext_t& context) noexcept {
  const std::uintptr_t handler = programs_handler;
  if (handler != 0) set_signal_mask((mask_of(context.uc_sigmask) | programs_mask) & ~kPagingSignals);
  return reinterpret_cast<void*>(handler);
}

void begin_own_process() noexcept { own_process = static_cast<int>(raw_syscall(SYS_getpid)); }

KernelAction adopted(int signal, KernelAction action) noexcept {
  if (!is_function(action.handler)) return action;
  action.mask &= ~kPagingSignals;
  action.restorer = sigreturn_stub();
  action.flags |= kHasRestorer;
  if (signal == kCancelSignal && (action.flags & SA_SIGINFO) != 0 && action.handler != cancel_entry()) {
    cancel_handler = action.handler;
    action.handler = cancel_entry();
  }
  if (signal == SIGBUS) {
    action.mask = kAllButForced;
    action.flags |= SA_ONSTACK | SA_NODEFER;
  }
  return action;
}

void adopt_handlers() noexcept {
  constexpr int kSignals = 64;
  for (int signal = 1; signal <= kSignals; ++signal) {
    KernelAction action{};
    if (raw_syscall(SYS_rt_sigaction, signal, nullptr, &action, sizeof action.mask) != 0) continue;
    if (!is_function(action.handler)) continue;
    const KernelAction with = adopted(signal, action);
    raw_syscall(SYS_rt_sigaction, signal, &with, nullptr, sizeof with.mask);
  }
}

bool answer_signal_call(TrappedCall& call) noexcept {
  switch (call.number()) {
    case SYS_rt_sigreturn:
      return_from_handler(call);
      return true;
    case SYS_rt_sigaction:
      call.return_with(set_action(call));
      return true;
    case SYS_rt_sigprocmask:
      call.return_with(set_mask(call));
      return true;
    case SYS_sigaltstack:
      set_signal_stack(call);
      return true;
    case SYS_rt_sigsuspend:
      open_signals(call, 0);
      call.make_in_stub();
      return true;
    case SYS_ppoll:
      open_signals(call, 3);
      return false;  // its buffers, too
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
      open_signals(call, 4);
      return false;
    case SYS_pselect6:
      open_signals_of_select(call);
      return false;
    default:
      return false;
  }
}

}  // namespace nvmemu::preload
