/* SPDX-License-Identifier: Apache-2.0 */
/* A program whose malloc is its own, and for its own: not ready before main(), nor for other threads than the
 * program's. Ends with status 9 where anybody else calls it. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile int is_ready;
static char heap[64 << 20];
static size_t used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void refuse(const char* what) {
  static const char text[] = "not before main(): ";
  (void)!write(2, text, sizeof text - 1);
  (void)!write(2, what, strlen(what));
  (void)!write(2, "\n", 1);
  _exit(9);
}

void* aligned_alloc(size_t alignment, size_t bytes) {
  if (!is_ready) refuse("an allocation");
  pthread_mutex_lock(&lock);
  used = (used + 16 + alignment - 1) / alignment * alignment;
  char* const block = heap + used;
  memcpy(block - sizeof bytes, &bytes, sizeof bytes);
  used += bytes;
  pthread_mutex_unlock(&lock);
  return used <= sizeof heap ? block : NULL;
}
void* malloc(size_t bytes) { return aligned_alloc(16, bytes); }
void free(void* block) {
  if (!is_ready) refuse("free");
  if (block != NULL && ((char*)block < heap || (char*)block >= heap + sizeof heap)) refuse("another's block");
}
void* calloc(size_t count, size_t bytes) {
  void* const block = malloc(count * bytes); /* of zeros: no block is used twice */
  return block;
}
void* realloc(void* block, size_t bytes) {
  size_t before = 0;
  void* const other = malloc(bytes);
  if (block != NULL) memcpy(&before, (char*)block - sizeof before, sizeof before);
  if (other != NULL && before > 0) memcpy(other, block, before < bytes ? before : bytes);
  return other;
}

static void* compute(void* sum) {
  for (volatile long i = 0; i < 20000000; ++i) *(volatile long*)sum += i;
  return sum;
}

int main(void) {
  is_ready = 1;
  long sums[2] = {0, 0};
  pthread_t other;
  if (pthread_create(&other, NULL, compute, &sums[0]) != 0) return 1;
  compute(&sums[1]);
  pthread_join(other, NULL);
  char* const text = strdup("its own");
  printf("%s %d\n", text, sums[0] == sums[1]);
  free(text);
  return fflush(stdout);
}
