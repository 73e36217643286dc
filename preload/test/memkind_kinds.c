// SPDX-License-Identifier: Apache-2.0
// On which nodes libmemkind's kinds have their memory, a line each: "KIND: N N ...", of 16 pages that follow
// each other.
#include <memkind.h>
#include <numaif.h>
#include <stdio.h>
#include <string.h>

enum { kPages = 16, kPage = 4096 };

static void show(const char* name, memkind_t kind) {
  char* const memory = memkind_malloc(kind, (kPages + 1) * kPage);
  if (memory == NULL) {
    printf("%s: none\n", name);
    return;
  }
  memset(memory, 1, (kPages + 1) * kPage);
  void* pages[kPages];
  int nodes[kPages];
  for (int i = 0; i < kPages; ++i) pages[i] = memory + (i + 1) * kPage;
  if (move_pages(0, kPages, pages, NULL, nodes, 0) != 0) perror("move_pages");
  printf("%s:", name);
  for (int i = 0; i < kPages; ++i) printf(" %d", nodes[i]);
  printf("\n");
  memkind_free(kind, memory);
}

int main(void) {
  show("regular", MEMKIND_REGULAR);
  show("interleave", MEMKIND_INTERLEAVE);
  show("dax", MEMKIND_DAX_KMEM);
  return 0;
}
