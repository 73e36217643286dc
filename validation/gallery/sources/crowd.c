// SPDX-License-Identifier: Apache-2.0
// Ten thousand short processes, ten thousand threads at once, each on 16 KiB, and then some processes more:
// what so many stacks leave behind makes a fork take milliseconds.
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kMany = 10000, kLast = 100 };

static pthread_barrier_t all;
static int counts[kMany];

static void* count(void* at) {
  pthread_barrier_wait(&all);
  *(int*)at = 1;
  return NULL;
}

// The sum of what so many children say; below 0: one could not.
static int fork_many(int many) {
  int sum = 0;
  for (int i = 0; i < many; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(i & 1);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return -1;
    sum += WEXITSTATUS(status);
  }
  return sum;
}

int main(void) {
  static pthread_t threads[kMany];
  const int first = fork_many(kMany - kLast);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
  pthread_barrier_init(&all, NULL, kMany);
  for (int i = 0; i < kMany; ++i) {
    if (pthread_create(&threads[i], &attributes, count, &counts[i]) != 0) return 1;
  }
  int sum = 0;
  for (int i = 0; i < kMany; ++i) {
    pthread_join(threads[i], NULL);
    sum += counts[i];
  }
  const int last = fork_many(kLast);
  if (first < 0 || last < 0) return 2;
  printf("%d\n", sum + first + last);
  return 0;
}
