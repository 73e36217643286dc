// SPDX-License-Identifier: Apache-2.0
// Preloaded behind the emulator: a kernel whose clock source no program can read (HPET, ACPI's timer, Xen's
// clock), so that each reading is a system call, which the emulator has not made itself.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const char kSource[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = va_arg(more, mode_t);
  va_end(more);
  if (strcmp(path, kSource) != 0) return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
  const char text[] = "hpet\n";
  const int file = memfd_create("source", MFD_CLOEXEC);
  if (write(file, text, sizeof text - 1) < 0 || lseek(file, 0, SEEK_SET) != 0) return -1;
  return file;
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  long result = SYS_clock_gettime;
#if defined(__x86_64__)
  __asm__ volatile("syscall" : "+a"(result) : "D"((long)clock), "S"(now) : "rcx", "r11", "memory");
#endif
  if (result == 0) return 0;
  errno = (int)-result;
  return -1;
}
