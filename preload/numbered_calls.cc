// SPDX-License-Identifier: Apache-2.0
// Interposed: system calls made by number. Runtimes wait and wake by futexes so: C++20's atomics, latches and
// semaphores, oneTBB, and many others.
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "asked_memory.h"
#include "base/raw_syscall.h"
#include "edge.h"
#include "kernel_signals.h"
#include "lifecycle.h"
#include "program_signals.h"
#include "sandbox.h"
#include "signal_mask.h"
#include "storage/numbered_storage_calls.h"

namespace nvmemu::preload {
namespace {

NVMEMU_HOOK(long, syscall, (long, long, long, long, long, long, long));

std::uintptr_t address_of(long word) noexcept { return static_cast<std::uintptr_t>(word); }

long fail_with(int error) noexcept {
  errno = error;
  return -1;
}

// By number, what programs set is theirs as by name. Results as syscall(2) has them, EFAULT included: as in
// the kernel, what is asked for is done though it cannot be told what was there before.
long raw_sigaction(long signal, long action, long old, long mask_bytes) noexcept {
  if (mask_bytes != sizeof(SignalMask)) return fail_with(EINVAL);
  if (action != 0 && !kernel_reads(address_of(action), sizeof(KernelAction))) return fail_with(EFAULT);
  const auto* const asked = reinterpret_cast<const KernelAction*>(action);
  auto* const told = reinterpret_cast<KernelAction*>(old);
  struct sigaction wanted {};
  struct sigaction before {};
  if (asked != nullptr) wanted = as_library_has(*asked);
  if (program_sigaction(static_cast<int>(signal), asked != nullptr ? &wanted : nullptr, &before) != 0)
    return -1;
  if (!kernel_writes_action(static_cast<int>(signal), address_of(old))) return fail_with(EFAULT);
  if (told != nullptr) *told = as_kernel_has(before);
  return 0;
}

long raw_sigprocmask(long how, long set, long old, long mask_bytes) noexcept {
  if (mask_bytes != sizeof(SignalMask)) return fail_with(EINVAL);
  if (set != 0 && !kernel_reads(address_of(set), sizeof(SignalMask))) return fail_with(EFAULT);
  const auto* const asked = reinterpret_cast<const SignalMask*>(set);
  sigset_t wanted{};
  sigset_t before{};
  if (asked != nullptr) add_to(wanted, *asked);
  if (program_sigprocmask(static_cast<int>(how), asked != nullptr ? &wanted : nullptr, &before) != 0)
    return -1;
  if (!kernel_writes_mask(address_of(old))) return fail_with(EFAULT);
  if (old != 0) *reinterpret_cast<SignalMask*>(old) = mask_of(before);
  return 0;
}

// What names nodes, where some are emulated.
long memory_policy_call(long number, long a, long b, long c, long d, long e, long f) noexcept {
  Placement& placement = Runtime::get().placement();
  EmulatedNodes& nodes = Runtime::get().nodes();
  const auto word = [](long value) { return static_cast<unsigned long>(value); };
  const auto mask = [](long value) { return reinterpret_cast<unsigned long*>(value); };
  long result = 0;
  switch (number) {
    case SYS_set_mempolicy:
      result = nodes.set_mempolicy(static_cast<int>(a), mask(b), word(c));
      break;
    case SYS_get_mempolicy:
      result =
          nodes.get_mempolicy(placement, reinterpret_cast<int*>(a), mask(b), word(c), address_of(d), word(e));
      break;
    case SYS_mbind:
      result = nodes.mbind(placement, address_of(a), word(b), static_cast<int>(c), mask(d), word(e),
                           static_cast<unsigned>(f));
      break;
    default: {
      PlacementOf whose(a == getpid() ? kOwnProcess : a);
      if (!whose.is_known()) return real_syscall(number, a, b, c, d, e, f);
      result = number == SYS_migrate_pages
                   ? nodes.migrate_pages(whose, word(b), mask(c), mask(d))
                   : nodes.move_pages(whose, word(b), reinterpret_cast<void**>(c), reinterpret_cast<int*>(d),
                                      reinterpret_cast<int*>(e), static_cast<int>(f));
    }
  }
  return is_error(result) ? fail_with(static_cast<int>(-result)) : result;
}

long make_now(const NumberedCall& call) {
  const auto& words = call.words;
  return real_syscall(call.number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

// Where it returns 0, in a child that has this process' memory for its own.
bool copies_the_process(long number, long a) noexcept {
  switch (number) {
#if defined(SYS_fork)  // arm64 has clone only
    case SYS_fork:
      return true;
#endif
    case SYS_clone:
      return (a & CLONE_VM) == 0;
    case SYS_clone3:
      return (*reinterpret_cast<const std::uint64_t*>(a) & CLONE_VM) ==
             0;  // clone_args begins with the flags
    default:
      return false;
  }
}

long set_up_ring(long number, long entries, long parameters) {
  const long ring = real_syscall(number, entries, parameters, 0, 0, 0, 0);
  if (ring >= 0) process_storage().on_unseen_ring();
  return ring;
}

}  // namespace
}  // namespace nvmemu::preload

using namespace nvmemu::preload;

// <unistd.h> declares syscall() as variadic. How many arguments there are cannot be known here, and need not:
// six are passed on, whatever is in their registers, of which the kernel takes as many as it knows of.
NVMEMU_EXPORT long interposed_syscall(long number, long a, long b, long c, long d, long e,
                                      long f) __asm__("syscall");

long interposed_syscall(long number, long a, long b, long c, long d, long e, long f) {
  switch (number) {
    case SYS_futex:
    case SYS_io_getevents:
    case SYS_io_pgetevents:
    case SYS_io_submit:
    case SYS_read:
    case SYS_write:
      this_thread().reach_edge(__builtin_return_address(0));
      break;
    case SYS_exit_group:
      end_process_now();
      break;
    case SYS_prctl:
      before_prctl(static_cast<int>(a), static_cast<unsigned long>(b), static_cast<unsigned long>(c));
      break;
    case SYS_seccomp:
      before_seccomp(static_cast<unsigned long>(a), static_cast<unsigned long>(b),
                     static_cast<unsigned long>(c));
      break;
    case SYS_ioctl:
      return ioctl(static_cast<int>(a), static_cast<unsigned long>(b), reinterpret_cast<void*>(c));
    case SYS_rt_sigaction:
      if (is_handled_here(static_cast<int>(a))) return raw_sigaction(a, b, c, d);
      break;
    case SYS_rt_sigprocmask:
      if (Runtime::get().active()) return raw_sigprocmask(a, b, c, d);
      break;
    case SYS_io_uring_setup:
      return set_up_ring(number, a, b);
    case SYS_mbind:
    case SYS_set_mempolicy:
    case SYS_get_mempolicy:
    case SYS_move_pages:
    case SYS_migrate_pages:
      if (Runtime::get().nodes().are_there() && Runtime::get().active())
        return memory_policy_call(number, a, b, c, d, e, f);
      break;
    default:
      break;
  }
  if (process_storage().is_open()) {
    long result = 0;
    const NumberedCall call{number, {a, b, c, d, e, f}};
    if (make_by_number(call, make_now, result)) return result;
  }
  const bool forks = copies_the_process(number, a);
  if (forks) copy_for_child();
  const long result = real_syscall(number, a, b, c, d, e, f);
  if (forks) go_on_after_fork(result);
  return result;
}
