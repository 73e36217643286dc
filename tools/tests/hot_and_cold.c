// SPDX-License-Identifier: Apache-2.0
// Touches a cold area, and a while later a hot one, of so many MiB each (a power of two). Then for so many ms
// of its processor's time goes through the lines of the hot one at random, each load waiting for the one
// before, and once in 16 of the cold one. Asked for them to be "blocks", it has them of its allocator, each
// by a function of its own; "nodes", with the hot one on NUMA node 1.
#include <linux/mempolicy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct line {
  struct line* next;
  char rest[56];
};

static long cpu_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static const char* kind = "";

static void* take(size_t bytes, int is_hot) {
  if (strcmp(kind, "blocks") == 0) return malloc(bytes);
  void* const area = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (area == MAP_FAILED) return NULL;
  const unsigned long node_1 = 2;
  if (is_hot && strcmp(kind, "nodes") == 0 &&
      syscall(SYS_mbind, area, bytes, MPOL_BIND, &node_1, 8 * sizeof node_1, 0) != 0)
    return NULL;
  return area;
}

// Of a power of two of lines, which are written in the order of their addresses, and then follow one another
// as a linear congruential generator has it: all of them, in no order that a processor foresees.
static struct line* make_cycle(void* area, size_t bytes) {
  const size_t count = bytes / sizeof(struct line);
  struct line* const lines = area;
  if (lines == NULL) exit(1);
  for (size_t i = 0; i < count; ++i) lines[i].next = &lines[(i * 1664525u + 1013904223u) & (count - 1)];
  return lines;
}

// What they have is told apart by their names.
__attribute__((noinline)) struct line* make_cold(size_t bytes) { return make_cycle(take(bytes, 0), bytes); }
__attribute__((noinline)) struct line* make_hot(size_t bytes) { return make_cycle(take(bytes, 1), bytes); }

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  if (argc > 4) kind = argv[4];
  struct line* cold = make_cold((size_t)atol(argv[1]) << 20);
  for (const long later = cpu_ms() + 200; cpu_ms() < later;) continue;
  struct line* hot = make_hot((size_t)atol(argv[2]) << 20);
  const long end = cpu_ms() + atol(argv[3]);
  long steps = 0;
  while (cpu_ms() < end) {
    for (int i = 0; i < 1000; ++i) {
      for (int j = 0; j < 15; ++j) hot = hot->next;
      cold = cold->next;
      __asm__ volatile("" : "+r"(hot), "+r"(cold));
    }
    steps += 16000;
  }
  printf("%ld steps\n", steps);
  return 0;
}
