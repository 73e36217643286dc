// SPDX-License-Identifier: Apache-2.0
// Plays the kernel's part in a folder that stands for the resctrl file system, from within a program that it
// is preloaded into: a group that is made has its files at once, with no limits; one that is removed takes
// them with it. With FAKE_RESCTRL_FULL in the environment no group can be made.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is_group(const char* path) { return strstr(path, "/sys/fs/resctrl/nvmemu-") != NULL; }

static void copy(const char* from, const char* to) {
  char text[4096];
  const int in = open(from, O_RDONLY);
  const int out = open(to, O_WRONLY | O_CREAT, 0644);
  const ssize_t length = in < 0 ? 0 : read(in, text, sizeof text);
  if (out < 0 || (length > 0 && write(out, text, (size_t)length) != length)) abort();
  if (in >= 0) close(in);
  close(out);
}

int mkdir(const char* path, mode_t mode) {
  if (is_group(path) && getenv("FAKE_RESCTRL_FULL") != NULL) {
    errno = ENOSPC;
    return -1;
  }
  const int made = (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
  if (made != 0 || !is_group(path)) return made;
  char own[4096];
  char defaults[4096];
  snprintf(own, sizeof own, "%s/schemata", path);
  snprintf(defaults, sizeof defaults, "%.*s/schemata", (int)(strrchr(path, '/') - path), path);
  copy(defaults, own);
  snprintf(own, sizeof own, "%s/tasks", path);
  copy("/dev/null", own);
  return 0;
}

int rmdir(const char* path) {
  if (is_group(path)) {
    static const char* const kFiles[] = {"schemata", "tasks"};
    for (int i = 0; i < 2; ++i) {
      char own[4096];
      snprintf(own, sizeof own, "%s/%s", path, kFiles[i]);
      unlink(own);
    }
  }
  return (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
}
