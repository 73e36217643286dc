// SPDX-License-Identifier: Apache-2.0
// On which node the OpenMP runtime allocates in each memory space, a line each: "SPACE: N", or "SPACE: none".
#include <numaif.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

enum { kBytes = 1 << 20, kPage = 4096 };

static void show(const char* name, omp_memspace_handle_t space) {
  const omp_alloctrait_t without_another = {omp_atk_fallback, omp_atv_null_fb};
  const omp_allocator_handle_t allocator = omp_init_allocator(space, 1, &without_another);
  char* const memory = allocator == omp_null_allocator ? NULL : omp_alloc(kBytes, allocator);
  if (memory == NULL) {
    printf("%s: none\n", name);
    return;
  }
  memset(memory, 1, kBytes);
  void* page = memory + kBytes / 2;
  int node = -1;
  if (move_pages(0, 1, &page, NULL, &node, 0) != 0) perror("move_pages");
  printf("%s: %d\n", name, node);
  omp_free(memory, allocator);
}

int main(void) {
  show("default", omp_default_mem_space);
  show("large capacity", omp_large_cap_mem_space);
  show("high bandwidth", omp_high_bw_mem_space);
  return 0;
}
