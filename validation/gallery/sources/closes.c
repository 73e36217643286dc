// SPDX-License-Identifier: Apache-2.0
// Closes all descriptors that it did not open, as daemons do, again and again, and needs the lowest for its
// own.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { kSize = 1 << 22 };

int main(void) {
  unsigned* next = malloc(kSize * sizeof *next);
  if (next == NULL) return 1;
  for (unsigned i = 0; i < kSize; ++i) next[i] = (i * 1664525u + 1013904223u) & (kSize - 1);
  unsigned at = 0;
  for (int round = 0; round < 50; ++round) {
    for (int fd = 3; fd < 1024; ++fd) close(fd);
    if (open("/dev/null", O_RDONLY) != 3) return 2;
    for (int step = 0; step < 300000; ++step) at = next[at];
  }
  printf("%u\n", at);
  free(next);
  return 0;
}
