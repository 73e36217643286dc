// SPDX-License-Identifier: Apache-2.0
// To preload: storage that writes the half of 2 pages, fails beyond a GiB, and loses the first sync after
// that.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_bool loses_next;

ssize_t pwrite(int fd, const void* data, size_t size, off_t at) {
  typedef ssize_t Write(int, const void*, size_t, off_t);
  Write* real = (Write*)dlsym(RTLD_NEXT, "pwrite");
  if (at >= 1L << 30) {
    atomic_store(&loses_next, 1);
    errno = EIO;
    return -1;
  }
  return real(fd, data, size == 2 * 4096 ? size / 2 : size, at);
}

int fsync(int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  if (atomic_exchange(&loses_next, 0)) {
    errno = EIO;
    return -1;
  }
  return real(fd);
}
