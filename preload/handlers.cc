// SPDX-License-Identifier: Apache-2.0
#include "handlers.h"

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <iterator>

#include "base/program_counter.h"
#include "base/raw_syscall.h"
#include "counters/sampler/guarded_read.h"
#include "counters/sampler/prober.h"
#include "endings.h"
#include "foreign_threads.h"
#include "hooks.h"
#include "keep_errno.h"
#include "runtime.h"
#include "thread_pointers.h"
#include "thread_state.h"

namespace nvmemu::preload {
namespace {

// What the program set for a signal that the emulator handles. Written by the program's calls, read in
// handlers: two copies, of which one is whole at any time.
struct Kept {
  int signal;
  std::atomic<unsigned> current{0};
  struct sigaction actions[2]{};

  const struct sigaction& action() const { return actions[current.load(std::memory_order_acquire)]; }
  void set(const struct sigaction& action) {
    const unsigned next = 1 - current.load(std::memory_order_relaxed);
    actions[next] = action;
    current.store(next, std::memory_order_release);
  }
};

// SIGSEGV and SIGBUS are here because the timed load of a probe may fault where the program's own would have:
// its handler must not see an address that is not the program's.
Kept kept[] = {{.signal = kTickSignal}, {.signal = kTrapSignal}, {.signal = SIGSEGV}, {.signal = SIGBUS}};

// Of a signal that is_kept().
Kept& kept_entry(int signal) {
  for (Kept& entry : kept) {
    if (entry.signal == signal) return entry;
  }
  __builtin_unreachable();
}

bool is_function(const struct sigaction& action) {
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

#if defined(__x86_64__)
// Whether the trap can be an int1's: it is reported behind the instruction, but in guests on AMD processors
// at it.
bool is_int1(std::uintptr_t pc) noexcept {
  constexpr std::uint8_t kInt1 = 0xf1;
  const auto is_at = [](std::uintptr_t address) {
    return is_readable(address, address + 1) && *reinterpret_cast<const std::uint8_t*>(address) == kInt1;
  };
  return is_at(pc - 1) || is_at(pc);
}

// A hit of a breakpoint whose reason has been lost on the way (a hypervisor may mix up or drop DR6, or report
// a debug register that was taken back): the kernel then takes it for a single step, for an int1 instruction,
// or for a debugger's, and sends a plain trap. On a 2-vCPU guest a few in 100,000 probed processes died of
// SIGTRAP, for which this is the likeliest reason; it was not seen at work. Here such a trap cannot be
// anybody else's unless the program steps through itself or runs int1: a debugger is told first, and other
// breakpoints of perf_event carry another code. The instruction is to be executed now, whatever the registers
// say.
bool pass_stray_breakpoint(int signal, const siginfo_t& info, void* context) noexcept {
  constexpr greg_t kStepping = 1 << 8;  // TF
  constexpr greg_t kResume = 1 << 16;   // RF: no instruction breakpoint is taken at this instruction
  if (signal != kTrapSignal) return false;
  if (info.si_code != TRAP_BRKPT && info.si_code != TRAP_TRACE && info.si_code != TRAP_HWBKPT) return false;
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  if ((registers[REG_EFL] & kStepping) != 0) return false;
  if (is_int1(static_cast<std::uintptr_t>(registers[REG_RIP]))) return false;
  registers[REG_EFL] |= kResume;
  return true;
}
#else
// There are no breakpoints of the emulator's.
bool pass_stray_breakpoint(int, const siginfo_t&, void*) noexcept { return false; }
#endif

// As if only the program's setting existed. The default of SIGTRAP ends the process, SIGURG's does nothing.
void forward(int signal, siginfo_t* info, void* context) noexcept {
  if (pass_stray_breakpoint(signal, *info, context)) return;
  const struct sigaction& action = kept_entry(signal).action();
  if (is_function(action)) {
    if ((action.sa_flags & SA_SIGINFO) != 0) {
      action.sa_sigaction(signal, info, context);
    } else {
      action.sa_handler(signal);
    }
  } else if (action.sa_handler == SIG_DFL && signal != kTickSignal) {
    end_by(signal, *info);
  }
}

bool is_tick(const siginfo_t& info) {
  // perf_event's asynchronous notification carries a POLL_ code (> 0, below the kernel's own SI_KERNEL).
  constexpr int kFirstKernelCode = 0x80;
  const bool from_event = info.si_code > 0 && info.si_code < kFirstKernelCode;
  return from_event || (info.si_code == SI_TIMER && TimerTicker::owns(info.si_value.sival_ptr));
}

__attribute__((noinline)) void handle_tick(int signal, siginfo_t* info, void* context) {
  const KeepErrno keep;
  if (is_tick(*info)) {
    this_thread().on_tick(*static_cast<const ucontext_t*>(context));
  } else {
    forward(signal, info, context);
  }
}

// A breakpoint may be on code of the C library that this handler runs itself (__errno_location has a load):
// its trap must find nothing to do, before anything is called, or traps would nest without end.
__attribute__((noinline)) void handle_trap(int signal, siginfo_t* info, void* context) {
  const bool is_probe = Prober::owns(*info);
  if (is_probe && this_thread().in_trap) return;
  this_thread().in_trap = is_probe;
  const KeepErrno keep;
  if (!this_thread().on_trap(*info, *static_cast<const ucontext_t*>(context))) forward(signal, info, context);
  this_thread().in_trap = false;
}

// Whether the fault was a guarded read's, which now goes on behind it.
bool mend_fault(void* context) noexcept {
  auto& interrupted = *static_cast<ucontext_t*>(context);
  const std::uintptr_t pc = program_counter(interrupted);
  const FaultRange range = fault_range();
  if (pc < range.begin || pc >= range.end) return false;
  set_program_counter(interrupted, range.resume);
  return true;
}

__attribute__((noinline)) void handle_fault(int signal, siginfo_t* info, void* context) {
  forward(signal, info, context);
}

// On a thread whose thread pointer is not the C library's now: without touching anything thread-local.
void forward_untouched(int signal, siginfo_t* info, void* context) noexcept {
  if (signal == kTickSignal ? is_tick(*info) : Prober::owns(*info)) return;
  if (pass_stray_breakpoint(signal, *info, context)) return;
  const struct sigaction& action = kept_entry(signal).action();
  if (is_function(action)) {
    (action.sa_flags & SA_SIGINFO) != 0 ? action.sa_sigaction(signal, info, context)
                                        : action.sa_handler(signal);
  } else if (action.sa_handler == SIG_DFL && signal != kTickSignal) {
    hooks::sigaction(signal, &action, nullptr);  // what faulted will fault again; what was sent is lost
  }
}

// On a thread that the C library did not make; its state is not in its thread-local storage.
__attribute__((no_stack_protector)) void handle_foreign(ThreadState& state, int signal, siginfo_t* info,
                                                        void* context) {
  const bool is_probe = signal == kTrapSignal && Prober::owns(*info);
  if (!is_probe && !(signal == kTickSignal && is_tick(*info)))
    return forward_untouched(signal, info, context);
  if (!has_readable_thread_pointer() || (is_probe && state.in_trap)) return;
  if (is_probe) {
    state.in_trap = true;
    state.on_trap(*info, *static_cast<const ucontext_t*>(context));
    state.in_trap = false;
  } else {
    state.on_foreign_tick(*static_cast<const ucontext_t*>(context));
  }
}

// What runs first. Nothing here may be thread-local, which the compiler's stack protector is too.
template <void (*kHandler)(int, siginfo_t*, void*)>
__attribute__((no_stack_protector)) void enter(int signal, siginfo_t* info, void* context) {
  if ((signal == SIGSEGV || signal == SIGBUS) && mend_fault(context)) return;
  if (ThreadState* foreign = foreign_thread()) return handle_foreign(*foreign, signal, info, context);
  (has_known_thread_pointer() ? kHandler : forward_untouched)(signal, info, context);
}

bool install(int signal, void (*handler)(int, siginfo_t*, void*), int flags) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK | flags;
  sigaddset(&action.sa_mask, kTickSignal);
  struct sigaction old {};
  if (hooks::sigaction(signal, &action, &old) != 0) return false;
  kept_entry(signal).set(old);
  return true;
}

// The kernel's own view of struct sigaction: the handler comes first.
std::uintptr_t handler_in_kernel(int signal) noexcept {
  struct KernelSigaction {
    std::uintptr_t handler;
    unsigned long flags;
    std::uintptr_t restorer;
    std::uint64_t mask;
  } action{};
  raw_syscall(SYS_rt_sigaction, signal, nullptr, &action, sizeof action.mask);
  return action.handler;
}

}  // namespace

bool install_handlers() noexcept {
  // A trap inside the trap handler must not find it blocked: kernels before 5.18 end the process then.
  return install(kTickSignal, enter<handle_tick>, 0) &&
         install(kTrapSignal, enter<handle_trap>, SA_NODEFER) && install(SIGSEGV, enter<handle_fault>, 0) &&
         install(SIGBUS, enter<handle_fault>, 0);
}

bool handlers_in_place() noexcept {
  const auto ours = reinterpret_cast<std::uintptr_t>(&enter<handle_fault>);
  const auto known = [&](int signal) { return handler_in_kernel(signal) == ours; };
  return handler_in_kernel(kTrapSignal) == reinterpret_cast<std::uintptr_t>(&enter<handle_trap>) &&
         known(SIGSEGV) && known(SIGBUS);
}

void unblock_signals() noexcept {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, kTickSignal);
  sigaddset(&set, kTrapSignal);
  hooks::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

bool is_kept(int signal) noexcept {
  return std::any_of(std::begin(kept), std::end(kept),
                     [&](const Kept& entry) { return entry.signal == signal; });
}

int kept_sigaction(int signal, const struct sigaction* action, struct sigaction* old) noexcept {
  Kept& entry = kept_entry(signal);
  const struct sigaction before = entry.action();
  if (action != nullptr) {
    // A fault's handler goes to the kernel with the program's own flags and mask, behind ours.
    if (signal == SIGSEGV || signal == SIGBUS) {
      struct sigaction wrapped = *action;
      wrapped.sa_sigaction = enter<handle_fault>;
      wrapped.sa_flags |= SA_SIGINFO | (is_function(*action) ? 0 : SA_ONSTACK);
      entry.set(*action);
      if (hooks::sigaction(signal, &wrapped, nullptr) != 0) {
        entry.set(before);
        return -1;
      }
    } else {
      entry.set(*action);
      if (signal == kTickSignal && is_function(*action)) Runtime::get().warn(kSignalTaken);
    }
  }
  if (old != nullptr) *old = before;
  return 0;
}

}  // namespace nvmemu::preload
