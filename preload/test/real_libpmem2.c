/* SPDX-License-Identifier: Apache-2.0
 * Maps the file, and makes 10 persists by each of five ways of the library's: 50, of 60 lines. Says which
 * granularity of stores it has. */
#include <fcntl.h>
#include <libpmem2.h>
#include <stdio.h>

int main(int argc, char** argv) {
  struct pmem2_config* config;
  struct pmem2_source* source;
  struct pmem2_map* map;
  if (argc != 2) return 2;
  const int file = open(argv[1], O_RDWR);
  if (file < 0 || pmem2_config_new(&config) != 0 || pmem2_source_from_fd(&source, file) != 0) return 1;
  if (pmem2_config_set_required_store_granularity(config, PMEM2_GRANULARITY_PAGE) != 0) return 1;
  if (pmem2_map_new(&map, config, source) != 0) {
    fprintf(stderr, "%s\n", pmem2_errormsg());
    return 1;
  }
  char* const memory = pmem2_map_get_address(map);
  const pmem2_persist_fn persist = pmem2_get_persist_fn(map);
  const pmem2_flush_fn flush = pmem2_get_flush_fn(map);
  const pmem2_drain_fn drain = pmem2_get_drain_fn(map);
  const pmem2_memcpy_fn copy = pmem2_get_memcpy_fn(map);
  const pmem2_memset_fn fill = pmem2_get_memset_fn(map);
  for (int i = 0; i < 10; ++i) {
    persist(memory, 64);
    flush(memory, 128);
    drain();
    copy(memory, "text", 5, 0);
    fill(memory, i, 64, 0);
    if (pmem2_deep_flush(map, memory, 64) != 0) return 1;
    drain();
  }
  printf("granularity %d\n", (int)pmem2_map_get_store_granularity(map));
  return 0;
}
