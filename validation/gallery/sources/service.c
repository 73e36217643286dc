// SPDX-License-Identifier: Apache-2.0
// Becomes itself under a filter, as what systemd starts with SystemCallFilter=~@debug ~@privileged is born
// with one: it cannot be read by then, and what it does not let through ends the process.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kSize = 1 << 22 };

#define KILL(call) \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

// Some of the calls that these names stand for.
static int lock_in(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      KILL(perf_event_open),
      KILL(ptrace),
      KILL(process_vm_readv),
      KILL(process_vm_writev),
      KILL(bpf),
      KILL(chroot),
      KILL(setns),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int count, char** arguments) {
  if (count == 1) {
    if (lock_in() != 0) return 1;
    execl(arguments[0], arguments[0], "locked-in", (char*)NULL);
    return 2;
  }
  unsigned* next = malloc(kSize * sizeof *next);
  if (next == NULL) return 3;
  for (unsigned i = 0; i < kSize; ++i) next[i] = (i * 1664525u + 1013904223u) & (kSize - 1);
  unsigned at = 0;
  for (int step = 0; step < 10000000; ++step) at = next[at];
  printf("%u\n", at);
  free(next);
  return 0;
}
