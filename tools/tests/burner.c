// SPDX-License-Identifier: Apache-2.0
// Takes as many ms of its processor's time as it is told to, whatever else runs there.
#include <stdlib.h>
#include <time.h>

static long cpu_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int main(int argc, char** argv) {
  const long end = cpu_ms() + (argc > 1 ? atol(argv[1]) : 0);
  while (cpu_ms() < end) {
    for (int i = 0; i < 20000; ++i) __asm__ volatile("");
  }
  return 0;
}
