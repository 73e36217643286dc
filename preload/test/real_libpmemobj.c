// SPDX-License-Identifier: Apache-2.0
// Makes a pool in the file, and so many transactions in it, each of an object of one line.
#include <libpmemobj.h>
#include <stdint.h>
#include <stdlib.h>

struct root {
  uint64_t values[8];
};

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  PMEMobjpool* const pool = pmemobj_create(argv[1], "test", PMEMOBJ_MIN_POOL, 0600);
  if (pool == NULL) return 1;
  struct root* const root = pmemobj_direct(pmemobj_root(pool, sizeof(struct root)));
  for (volatile int left = atoi(argv[2]); left > 0; --left) {
    TX_BEGIN(pool) {
      pmemobj_tx_add_range_direct(root, sizeof *root);
      ++root->values[0];
    }
    TX_ONABORT { return 1; }
    TX_END
  }
  pmemobj_close(pool);
  return 0;
}
