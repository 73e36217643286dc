// SPDX-License-Identifier: Apache-2.0
// A key-value store on libpmemobj: a hash table of chains in a pool. Fills it, each pair made durable by
// itself, then looks keys up at random, and prints what each takes.
//
//   gcc -O2 -o pmem_kv validation/experiments/pmem_kv.c -lpmemobj
//   nvmemu run --tier nvm=optane-dcpmm,file=/dev/shm/pool -- ./pmem_kv /dev/shm/pool 1000000
#include <libpmemobj.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define BUCKETS (1u << 20)

struct entry {
  uint64_t key;
  char value[100];
  PMEMoid next;
};
struct root {
  PMEMoid buckets[BUCKETS];
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint64_t next_random(uint64_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  return *state ^= *state << 17;
}

static uint64_t bucket_of(uint64_t key) { return key * 0x9e3779b97f4a7c15u >> 44; }

struct pair {
  uint64_t key;
  PMEMoid next;
};

static int fill_entry(PMEMobjpool* pool, void* at, void* argument) {
  struct entry* entry = at;
  const struct pair* pair = argument;
  entry->key = pair->key;
  snprintf(entry->value, sizeof entry->value, "value of %lu", (unsigned long)pair->key);
  entry->next = pair->next;
  pmemobj_persist(pool, entry, sizeof *entry);
  return 0;
}

int main(int count, char** arguments) {
  if (count != 3) {
    fprintf(stderr, "usage: pmem_kv POOL KEYS\n");
    return 2;
  }
  const char* path = arguments[1];
  const uint64_t keys = strtoull(arguments[2], NULL, 10);
  unlink(path);
  PMEMobjpool* pool = pmemobj_create(path, "kv", sizeof(struct root) + keys * 400 + (64u << 20), 0600);
  if (pool == NULL) {
    fprintf(stderr, "pmem_kv: %s: %s\n", path, pmemobj_errormsg());
    return 1;
  }
  struct root* root = pmemobj_direct(pmemobj_root(pool, sizeof(struct root)));
  const double begin = now();
  for (uint64_t key = 1; key <= keys; ++key) {
    PMEMoid* bucket = &root->buckets[bucket_of(key)];
    struct pair pair = {key, *bucket};
    if (pmemobj_alloc(pool, bucket, sizeof(struct entry), 1, fill_entry, &pair) != 0) return 1;
  }
  const double filled = now();
  const uint64_t look_ups = 20 * keys;
  uint64_t state = 1, found = 0;
  for (uint64_t i = 0; i < look_ups; ++i) {
    const uint64_t key = next_random(&state) % keys + 1;
    const struct entry* entry = pmemobj_direct(root->buckets[bucket_of(key)]);
    while (entry != NULL && entry->key != key) entry = pmemobj_direct(entry->next);
    found += entry != NULL && entry->value[0] == 'v';
  }
  const double ended = now();
  printf("put %.0f ns, get %.0f ns, found %lu\n", (filled - begin) / (double)keys,
         (ended - filled) / (double)look_ups, (unsigned long)found);
  pmemobj_close(pool);
  unlink(path);
  return 0;
}
