// SPDX-License-Identifier: Apache-2.0
// A thousand coroutines of 8 KiB each, and an alternate stack of 8 KiB, as small as programs make them.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { kCoroutines = 1000, kStackBytes = 8192, kRounds = 40, kSteps = 400, kSize = 1 << 22 };

static ucontext_t scheduler, coroutines[kCoroutines];
static unsigned* next;
static unsigned long sum;

static void run(int number) {
  unsigned at = (unsigned)number;
  for (;;) {
    for (int step = 0; step < kSteps; ++step) at = next[at];
    sum = sum * 31 + at;
    swapcontext(&coroutines[number], &scheduler);
  }
}

int main(void) {
  next = malloc(kSize * sizeof *next);
  char* stacks = mmap(NULL, (size_t)(kCoroutines + 1) * kStackBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (next == NULL || stacks == MAP_FAILED) return 1;
  for (unsigned i = 0; i < kSize; ++i) next[i] = (i * 1664525u + 1013904223u) & (kSize - 1);
  const stack_t alternate = {.ss_sp = stacks + (size_t)kCoroutines * kStackBytes, .ss_size = kStackBytes};
  if (sigaltstack(&alternate, NULL) != 0) return 1;
  for (int i = 0; i < kCoroutines; ++i) {
    getcontext(&coroutines[i]);
    coroutines[i].uc_stack.ss_sp = stacks + (size_t)i * kStackBytes;
    coroutines[i].uc_stack.ss_size = kStackBytes;
    makecontext(&coroutines[i], (void (*)(void))run, 1, i);
  }
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kCoroutines; ++i) swapcontext(&scheduler, &coroutines[i]);
  }
  printf("%lu\n", sum);
  return 0;
}
