// SPDX-License-Identifier: Apache-2.0
// Interposed: what has system calls looked at: seccomp filters, and the program itself.
#include "sandbox.h"

#include <linux/audit.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "asked_memory.h"
#include "base/log.h"
#include "base/raw_syscall.h"
#include "base/syscall_dispatch.h"
#include "hook.h"
#include "paging/process_pager.h"
#include "paging/traps.h"
#include "runtime.h"
#include "seccomp_filter.h"
#include "storage/eventfd_teller.h"
#include "storage/process_storage.h"
#include "syscall_needs.h"
#include "thread_state.h"
#include "thread_status.h"

namespace nvmemu::preload {
namespace {

NVMEMU_HOOK(int, prctl, (int, unsigned long, unsigned long, unsigned long, unsigned long));

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#endif

std::atomic<bool> sandboxed{false};

bool lets_through(const sock_fprog& filter, const SyscallNeed& need) noexcept {
  seccomp_data call{};
  call.nr = static_cast<int>(need.number);
  call.arch = kArchitecture;
  call.instruction_pointer = reinterpret_cast<std::uintptr_t>(&lets_through);
  for (std::size_t i = 0; i < need.arguments.size(); ++i) call.args[i] = need.arguments[i];
  return allows(filter, call);
}

bool can_read(const sock_fprog* filter) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(filter);
  if (!kernel_reads(at, sizeof *filter)) return false;
  const auto code = reinterpret_cast<std::uintptr_t>(filter->filter);
  return kernel_reads(code, filter->len * sizeof *filter->filter);
}

// Where no tool made the board: to write a report at the end takes what may not be let through.
void note(BoardWarning warning) noexcept {
  Runtime& runtime = Runtime::get();
  runtime.warn(warning);
  if (sandboxed.exchange(true) || !runtime.reports_itself()) return;
  log_warning(
      "the program installs a seccomp filter: there will be no report (nvmemu run makes one all the same)");
}

// Those that are in a handler now, or wait for what they owe, make a system call or two before they leave it.
// A jump out of one may have left it counted.
void wait_for_others() noexcept {
  constexpr double kLongestNs = 1e9;
  const Clock& clock = Runtime::get().clock();
  const std::uint64_t start = clock.now_ticks();
  while (ThreadState::AtWork::count() > 0 && clock.ns_since(start) < kLongestNs) raw_syscall(SYS_sched_yield);
}

// The thread, or all of them, as long as that can be done.
void go_natively(bool all_threads) {
  note(kSandboxedNatively);
  process_storage().give_up();
  ThreadState::begin_no_more();
  this_thread().end();
  if (!all_threads) return;
  ThreadState::end_others();
  wait_for_others();
}

// Without either the kernel takes no filter.
bool may_install_filters() noexcept {
  if (thread_status("NoNewPrivs").value_or(1) != 0) return true;
  constexpr std::uint64_t kNeeded = std::uint64_t{1} << CAP_SYS_ADMIN;
  return (thread_status("CapEff").value_or(kNeeded) & kNeeded) != 0;
}

// What the kernel refuses is no reason to put the emulation away. (That it refuses a filter's code, or
// threads that have filters of their own, is not known here.)
bool is_refused(const sock_fprog* filter) noexcept {
  return !can_read(filter) || filter->len == 0 || filter->len > BPF_MAXINSNS || !may_install_filters();
}

// As seccomp(2) has it: without a filter it says EFAULT, and of flags that it does not know something else.
bool takes_flags(unsigned long flags) noexcept {
  return raw_syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, nullptr) == -EFAULT;
}

// Not from under a filter.
bool takes_strict_mode() noexcept {
  return thread_status("Seccomp").value_or(SECCOMP_MODE_DISABLED) != SECCOMP_MODE_FILTER;
}

void prepare_for_filter(const sock_fprog* filter, bool all_threads) {
  if (is_refused(filter) || !end_paging()) return;
  bool natively = false;
  for (const SyscallNeed& need : syscall_needs())
    natively |= need.what == NeededFor::kTick && !lets_through(*filter, need);
  if (natively) go_natively(all_threads);
  for (const SyscallNeed& need : syscall_needs()) {
    // What ticks need goes on in threads that the filter is not for.
    if (need.what == NeededFor::kTick || lets_through(*filter, need)) continue;
    const bool is_for_report = need.what == NeededFor::kReport;
    if (is_for_report && !Runtime::get().reports_itself()) continue;
    note(natively ? kSandboxedNatively : kSandboxed);
    if (is_for_report) continue;
    if (need.number == SYS_io_cancel || need.number == SYS_io_pgetevents) eventfd_teller().finish();
    refuse_syscall(need.number);
  }
}

// The program is to be asked before each of the thread's system calls, and ticks would make some. (Where
// memory is paged the emulator looks at them itself, and the program is told that this cannot be.)
void leave_to_dispatcher() {
  if (ProcessPager::get() != nullptr) return;
  Runtime::get().warn(kOwnDispatch);
  this_thread().end();
}

bool is_emulated() noexcept { return Runtime::get().active() && Runtime::get().is_this_process(); }

}  // namespace

bool is_sandboxed() noexcept { return sandboxed.load(std::memory_order_relaxed); }

void before_prctl(int option, unsigned long mode, unsigned long filter) {
  if (!is_emulated()) return;
  if (option == kSetDispatch && mode == kDispatchOn) leave_to_dispatcher();
  if (option != PR_SET_SECCOMP) return;
  if (mode == SECCOMP_MODE_STRICT && takes_strict_mode()) go_natively(false);
  if (mode == SECCOMP_MODE_FILTER) prepare_for_filter(reinterpret_cast<const sock_fprog*>(filter), false);
}

void before_seccomp(unsigned long operation, unsigned long flags, unsigned long filter) {
  if (!is_emulated()) return;
  if (operation == SECCOMP_SET_MODE_STRICT && flags == 0 && filter == 0 && takes_strict_mode())
    go_natively(false);
  if (operation != SECCOMP_SET_MODE_FILTER || !takes_flags(flags)) return;
  prepare_for_filter(reinterpret_cast<const sock_fprog*>(filter), (flags & SECCOMP_FILTER_FLAG_TSYNC) != 0);
}

}  // namespace nvmemu::preload

using namespace nvmemu::preload;

// <sys/prctl.h> declares it as variadic. How many arguments there are need not be known: four are passed on.
NVMEMU_EXPORT int interposed_prctl(int option, unsigned long a, unsigned long b, unsigned long c,
                                   unsigned long d) noexcept __asm__("prctl");

int interposed_prctl(int option, unsigned long a, unsigned long b, unsigned long c,
                     unsigned long d) noexcept {
  before_prctl(option, a, b);
  return real_prctl(option, a, b, c, d);
}
