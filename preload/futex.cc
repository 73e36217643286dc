// SPDX-License-Identifier: Apache-2.0
// Interposed: system calls made by number. Runtimes wait and wake by futexes so: C++20's atomics, latches and
// semaphores, oneTBB, and many others.
#include <sys/syscall.h>

#include "edge.h"
#include "lifecycle.h"

namespace nvmemu::preload {
namespace {

NVMEMU_HOOK(long, syscall, (long, long, long, long, long, long, long));

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
  return real_syscall(number, a, b, c, d, e, f);
}
