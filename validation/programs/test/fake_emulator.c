/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for the preload library: it provides the public interface. Each settling takes 300 ms if the
 * thread has run for 50 ms or more since its last one, so that a test sees where the programs settle; and
 * what they say is done goes to the file that FAKE_PROGRESS names, at the end: a line each process, the sum
 * and in how many calls. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "nvmemu/nvmemu.h"

static long long now_ns(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static _Thread_local long long settled_ns;

__attribute__((visibility("default"))) void nvmemu_end_epoch(void) {
  if (now_ns(CLOCK_THREAD_CPUTIME_ID) - settled_ns >= 50000000) {
    const long long until_ns = now_ns(CLOCK_MONOTONIC_RAW) + 300000000;
    while (now_ns(CLOCK_MONOTONIC_RAW) < until_ns) {
    }
  }
  settled_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
}

__attribute__((visibility("default"))) int nvmemu_active(void) { return 1; }

static unsigned long long done, calls;

__attribute__((visibility("default"))) void nvmemu_progress(unsigned long long amount) {
  __atomic_fetch_add(&done, amount, __ATOMIC_RELAXED);
  __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
}

/* Set-up, one that is begun amid, and two. */
__attribute__((visibility("default"))) unsigned nvmemu_windows(struct nvmemu_window* windows, unsigned room) {
  static const struct nvmemu_window all[] = {
      {0, 500000000, 0}, {1, 500000000, 7}, {0, 500000000, 500}, {1, 2000000000, 800}, {0, 250000000, 300}};
  const unsigned over = getenv("FAKE_WINDOWS") ? sizeof all / sizeof *all : 0;
  for (unsigned i = 0; i < over && i < room; ++i) windows[i] = all[i];
  return over;
}

__attribute__((destructor)) static void tell(void) {
  const char* path = getenv("FAKE_PROGRESS");
  FILE* file = path ? fopen(path, "a") : NULL;
  if (!file) return;
  fprintf(file, "%llu %llu\n", done, calls);
  fclose(file);
}
