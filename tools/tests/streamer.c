// SPDX-License-Identifier: Apache-2.0
// Writes 256 MB, and reads them eight times over.
#include <stdint.h>
#include <stdlib.h>

enum { kBytes = 256 * 1000 * 1000, kPasses = 8, kWords = kBytes / 8 };

int main(void) {
  uint64_t* words = malloc(kBytes);
  if (words == NULL) return 1;
  for (int i = 0; i < kWords; ++i) words[i] = (uint64_t)i;
  uint64_t total = 0;
  for (int pass = 0; pass < kPasses; ++pass) {
    for (int i = 0; i < kWords; ++i) total += words[i];
    __asm__ volatile("" : : "r"(total) : "memory");
  }
  const uint64_t expected = (uint64_t)kPasses * (kWords - 1ULL) * kWords / 2;
  free(words);
  return total == expected ? 0 : 2;
}
