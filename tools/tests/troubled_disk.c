// SPDX-License-Identifier: Apache-2.0
// To preload: a disk that is full once TROUBLED_DISK_BYTES were written; and a process that stops (SIGSTOP)
// in its first call of the name that TROUBLED_DISK_STOPS_AT holds, write or fsync, so that a test finds it
// there.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_size_t written;
static atomic_flag has_stopped = ATOMIC_FLAG_INIT;

static void stop_at(const char* call) {
  const char* name = getenv("TROUBLED_DISK_STOPS_AT");
  if (name == NULL || strcmp(name, call) != 0 || atomic_flag_test_and_set(&has_stopped)) return;
  kill(getpid(), SIGSTOP);
}

ssize_t write(int fd, const void* data, size_t size) {
  ssize_t (*real)(int, const void*, size_t) = (ssize_t(*)(int, const void*, size_t))dlsym(RTLD_NEXT, "write");
  const char* room = getenv("TROUBLED_DISK_BYTES");
  stop_at("write");
  if (room != NULL && atomic_fetch_add(&written, size) + size > strtoull(room, NULL, 10)) {
    errno = ENOSPC;
    return -1;
  }
  return real(fd, data, size);
}

int fsync(int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  stop_at("fsync");
  return real(fd);
}
