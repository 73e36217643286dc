/* SPDX-License-Identifier: Apache-2.0 */
/* Dynamic, but linked with no library, as Go's programs without cgo are. Computes for some tenths of a
 * second. */
#include <sys/syscall.h>

__attribute__((noreturn)) static void leave(long status) {
#if defined(__x86_64__)
  __asm__ volatile("syscall" : : "a"((long)SYS_exit_group), "D"(status) : "rcx", "r11", "memory");
#else
  register long x0 __asm__("x0") = status;
  register long x8 __asm__("x8") = SYS_exit_group;
  __asm__ volatile("svc 0" : : "r"(x0), "r"(x8) : "memory");
#endif
  __builtin_unreachable();
}

void _start(void) {
  for (volatile long i = 0; i < 200000000; ++i) {
  }
  leave(7);
}
