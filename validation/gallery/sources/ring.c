// SPDX-License-Identifier: Apache-2.0
// A token goes round; between its visits each rank chases pointers through more than the caches hold.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const unsigned size = 1u << 22;
  unsigned* next = malloc(size * sizeof(unsigned));
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (unsigned i = 0; i < size; ++i) next[i] = (i * 1664525u + 1013904223u) & (size - 1);
  unsigned long token = 1;
  unsigned at = (unsigned)rank;
  for (int round = 0; round < 2000; ++round) {
    for (int step = 0; step < 2000; ++step) at = next[at];
    if (rank != 0) MPI_Recv(&token, 1, MPI_UNSIGNED_LONG, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    token = token * 31 + at;
    MPI_Send(&token, 1, MPI_UNSIGNED_LONG, (rank + 1) % ranks, 0, MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(&token, 1, MPI_UNSIGNED_LONG, ranks - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (rank == 0) printf("%lu\n", token);
  MPI_Finalize();
  free(next);
  return 0;
}
