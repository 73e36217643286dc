// SPDX-License-Identifier: Apache-2.0
// Writes 256 MB, and reads them eight times over, and again until that has taken 0.3 s of its processor's
// time: enough for a sampler on any machine. Prints how many bytes it has moved.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kBytes = 256 * 1000 * 1000, kPasses = 8, kWords = kBytes / 8 };

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(void) {
  uint64_t* words = malloc(kBytes);
  if (words == NULL) return 1;
  for (int i = 0; i < kWords; ++i) words[i] = (uint64_t)i;
  uint64_t total = 0, passes = 0;
  while (passes < kPasses || cpu_seconds() < 0.3) {
    for (int i = 0; i < kWords; ++i) total += words[i];
    __asm__ volatile("" : : "r"(total) : "memory");
    ++passes;
  }
  const uint64_t expected = passes * (kWords - 1ULL) * kWords / 2;
  free(words);
  printf("%llu\n", (unsigned long long)(passes + 1) * kBytes);
  return total == expected ? 0 : 2;
}
