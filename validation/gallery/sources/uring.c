// SPDX-License-Identifier: Apache-2.0
// Reads itself through io_uring, a page at a time, and chases pointers in between.
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kSize = 1 << 22, kReads = 200 };

int main(int count, char** arguments) {
  unsigned* next = malloc(kSize * sizeof *next);
  struct io_uring_params setup = {0};
  const int ring = (int)syscall(SYS_io_uring_setup, 4, &setup);
  if (ring < 0) return 3;
  const int file = open(arguments[count - 1], O_RDONLY);
  char* sq = mmap(NULL, setup.sq_off.array + setup.sq_entries * sizeof(unsigned), PROT_READ | PROT_WRITE,
                  MAP_SHARED, ring, IORING_OFF_SQ_RING);
  char* cq = mmap(NULL, setup.cq_off.cqes + setup.cq_entries * sizeof(struct io_uring_cqe),
                  PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_CQ_RING);
  struct io_uring_sqe* entries = mmap(NULL, setup.sq_entries * sizeof *entries, PROT_READ | PROT_WRITE,
                                      MAP_SHARED, ring, IORING_OFF_SQES);
  if (next == NULL || file < 0 || sq == MAP_FAILED || cq == MAP_FAILED || entries == MAP_FAILED) return 1;
  for (unsigned i = 0; i < kSize; ++i) next[i] = (i * 1664525u + 1013904223u) & (kSize - 1);
  const unsigned sq_mask = *(unsigned*)(sq + setup.sq_off.ring_mask),
                 cq_mask = *(unsigned*)(cq + setup.cq_off.ring_mask);
  atomic_uint *tail = (atomic_uint*)(sq + setup.sq_off.tail), *head = (atomic_uint*)(cq + setup.cq_off.head);
  unsigned char page[4096];
  unsigned long sum = 0;
  unsigned at = 0;
  for (int read = 0; read < kReads; ++read) {
    const unsigned place = *tail & sq_mask;
    memset(&entries[place], 0, sizeof *entries);
    entries[place].opcode = IORING_OP_READ;
    entries[place].fd = file;
    entries[place].addr = (unsigned long)page;
    entries[place].len = sizeof page;
    entries[place].off = (unsigned long)(read % 3) * sizeof page;
    ((unsigned*)(sq + setup.sq_off.array))[place] = place;
    atomic_store(tail, *tail + 1);
    if (syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1) return 2;
    const struct io_uring_cqe* done = (struct io_uring_cqe*)(cq + setup.cq_off.cqes) + (*head & cq_mask);
    for (int i = 0; i < done->res; ++i) sum = sum * 31 + page[i];
    atomic_store(head, *head + 1);
    for (int step = 0; step < 50000; ++step) at = next[at];
  }
  printf("%lu %u\n", sum, at);
  return 0;
}
