// SPDX-License-Identifier: Apache-2.0
// Parallel loops over more than the caches hold, with a barrier after each and a lock now and then.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  const unsigned size = 1u << 22;
  unsigned* next = malloc(size * sizeof(unsigned));
  unsigned long total = 0;
  unsigned long locked = 0;
  omp_set_num_threads(2);
#pragma omp parallel for
  for (unsigned i = 0; i < size; ++i) next[i] = (i * 1664525u + 1013904223u) & (size - 1);
  for (int round = 0; round < 100; ++round) {
#pragma omp parallel for schedule(dynamic) reduction(+ : total)
    for (unsigned chain = 0; chain < 64; ++chain) {
      unsigned at = chain * 7919u + (unsigned)round;
      for (int step = 0; step < 4000; ++step) total += at = next[at];
#pragma omp critical
      locked += at;
    }
  }
  printf("%lu %lu\n", total, locked);
  free(next);
  return 0;
}
