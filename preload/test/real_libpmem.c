/* SPDX-License-Identifier: Apache-2.0
 * Makes 10 persists by each of five ways of the library's: 50, of 60 lines. */
#include <libpmem.h>

int main(void) {
  static char memory[256] __attribute__((aligned(256)));
  for (int i = 0; i < 10; ++i) {
    pmem_persist(memory, 64);
    pmem_deep_persist(memory, 64);
    pmem_flush(memory, 128);
    pmem_drain();
    pmem_memcpy_persist(memory, "text", 5);
    pmem_memset(memory, i, 64, 0);
  }
  return 0;
}
