// SPDX-License-Identifier: Apache-2.0
#include "kept_signals.h"

#include <algorithm>
#include <atomic>
#include <iterator>

#include "base/raw_syscall.h"
#include "kernel_signals.h"
#include "paging/process_pager.h"
#include "signal_entry.h"
#include "signal_mask.h"

namespace nvmemu::preload {
namespace {

// Written by the program's calls, read in handlers: two copies, of which one is whole at any time.
struct Kept {
  int signal;
  bool is_fault;  // its handler goes to the kernel with the program's own flags and mask, behind ours
  std::atomic<unsigned> current{0};
  struct sigaction actions[2]{};

  const struct sigaction& action() const { return actions[current.load(std::memory_order_acquire)]; }
  void set(const struct sigaction& action) {
    const unsigned next = 1 - current.load(std::memory_order_relaxed);
    actions[next] = action;
    current.store(next, std::memory_order_release);
  }
};

// Faults are here because what the emulator reads of the program's memory, or walks of its code, may fault
// where the program itself would have: its handler must not see an address that is not the program's.
Kept kept[] = {{.signal = kTickSignal, .is_fault = false},
               {.signal = SIGSEGV, .is_fault = true},
               {.signal = SIGBUS, .is_fault = true},
               {.signal = SIGFPE, .is_fault = true},
               {.signal = SIGILL, .is_fault = true}};

Kept* find_entry(int signal) noexcept {
  for (Kept& entry : kept) {
    if (entry.signal == signal) return &entry;
  }
  return nullptr;
}

// Of a signal that is kept.
Kept& entry_of(int signal) noexcept {
  Kept* const entry = find_entry(signal);
  if (entry == nullptr) __builtin_unreachable();
  return *entry;
}

bool is_function(const struct sigaction& action) {
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

// With which the kernel calls the entry. On an alternate stack where there is one: the thread's own may be a
// coroutine's. A fault while another is handled must find its signal open.
struct sigaction ours() {
  struct sigaction action {};
  action.sa_sigaction = reinterpret_cast<void (*)(int, siginfo_t*, void*)>(&nvmemu_signal_entry);
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK | SA_NODEFER;
  add_to(action.sa_mask, kAllButForced);
  return action;
}

// For the kernel, where the program has set `action`.
struct sigaction behind_ours(const Kept& entry, const struct sigaction& action) {
  struct sigaction with = ours();
  if (!is_function(action)) return with;
  const int on_stack = action.sa_flags & SA_ONSTACK;
  if (!entry.is_fault) {
    with.sa_flags = (with.sa_flags & ~SA_ONSTACK) | on_stack;
    return with;
  }
  with.sa_mask = action.sa_mask;
  with.sa_flags = (action.sa_flags & ~SA_RESETHAND) | SA_SIGINFO;
  return with;
}

// The mask that the kernel would have called the program's handler with.
void block_as_asked(int signal, const struct sigaction& action, const ucontext_t& context) noexcept {
  SignalMask mask = mask_of(context.uc_sigmask) | mask_of(action.sa_mask);
  if ((action.sa_flags & SA_NODEFER) == 0) mask |= mask_of(signal);
  set_signal_mask(ProcessPager::get() != nullptr ? mask & ~kPagingSignals : mask);
}

}  // namespace

bool install_kept_signals() noexcept {
  for (Kept& entry : kept) {
    KernelAction now{};
    if (raw_syscall(SYS_rt_sigaction, entry.signal, nullptr, &now, sizeof now.mask) != 0) return false;
    const struct sigaction before = as_library_has(now);
    entry.set(before);
    if (!set_in_kernel(entry.signal, behind_ours(entry, before))) return false;
  }
  return true;
}

bool is_kept(int signal) noexcept { return find_entry(signal) != nullptr; }

bool is_fault(int signal) noexcept {
  const Kept* const entry = find_entry(signal);
  return entry != nullptr && entry->is_fault;
}

struct sigaction kept_action(int signal) noexcept {
  return entry_of(signal).action();
}

struct sigaction keep_action(int signal, const struct sigaction& action) noexcept {
  Kept& entry = entry_of(signal);
  entry.set(action);
  return behind_ours(entry, action);
}

int kept_sigaction(int signal, const struct sigaction* action, struct sigaction* old) noexcept {
  const struct sigaction before = kept_action(signal);
  if (action != nullptr) {
    const struct sigaction with = keep_action(signal, *action);
    if (!set_in_kernel(signal, with)) {
      keep_action(signal, before);
      return -1;
    }
  }
  if (old != nullptr) *old = before;
  return 0;
}

Wish wish_of_program(int signal, const siginfo_t& info, const ucontext_t& context) noexcept {
  Kept& entry = entry_of(signal);
  const struct sigaction action = entry.action();
  if (!is_function(action)) {
    // To ignore a fault is no way out of it: the kernel takes the default then.
    const bool forced = info.si_code > 0 && entry.signal != kTickSignal;
    return {.ends = forced || (action.sa_handler == SIG_DFL && signal != kTickSignal)};
  }
  if ((action.sa_flags & SA_RESETHAND) != 0) {
    struct sigaction by_default {};
    by_default.sa_handler = SIG_DFL;
    by_default.sa_flags = action.sa_flags;
    kept_sigaction(signal, &by_default, nullptr);
  }
  // Where pages are mended, nothing may come between: the kernel has blocked all for it.
  const bool is_pages = signal == SIGBUS && ProcessPager::get() != nullptr;
  if (!entry.is_fault || is_pages) block_as_asked(signal, action, context);
  return {.handler = reinterpret_cast<std::uintptr_t>(action.sa_handler)};
}

}  // namespace nvmemu::preload
