// SPDX-License-Identifier: Apache-2.0
// Interposed: system calls made by number. Runtimes wait and wake by futexes so: C++20's atomics, latches and
// semaphores, oneTBB, and many others.
#include <sched.h>
#include <sys/syscall.h>

#include <cstdint>

#include "edge.h"
#include "lifecycle.h"

namespace nvmemu::preload {
namespace {

NVMEMU_HOOK(long, syscall, (long, long, long, long, long, long, long));

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
    case SYS_read:
    case SYS_write:
      this_thread().reach_edge(__builtin_return_address(0));
      break;
    case SYS_exit_group:
      end_process_now();
      break;
    default:
      break;
  }
  const long result = real_syscall(number, a, b, c, d, e, f);
  if (result == 0 && copies_the_process(number, a)) begin_forked_child();
  return result;
}
