// SPDX-License-Identifier: Apache-2.0
// Goroutines that look up in maps larger than the caches, and call C, which chases pointers of its own.
package main

/*
#include <stdlib.h>
static unsigned long chase(unsigned long steps, unsigned long seed) {
  const unsigned long size = 1ul << 21;
  unsigned* next = malloc(size * sizeof(unsigned));
  for (unsigned long i = 0; i < size; ++i) next[i] = (unsigned)((i * 1664525 + 1013904223 + seed) & (size - 1));
  unsigned at = 0;
  unsigned long sum = 0;
  for (unsigned long i = 0; i < steps; ++i) sum += at = next[at];
  free(next);
  return sum;
}
*/
import "C"

import (
	"fmt"
	"sync"
)

func work(seed uint64) uint64 {
	found := make(map[uint64]uint64)
	for i := uint64(0); i < 200000; i++ {
		found[(i*7919+seed)%1000003] = i
	}
	var sum uint64
	for i := uint64(0); i < 1000003; i++ {
		sum += found[i*104729%1000003] * (i % 7)
	}
	return sum + uint64(C.chase(3000000, C.ulong(seed)))
}

func main() {
	sums := make([]uint64, 8)
	var all sync.WaitGroup
	for i := range sums {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			sums[i] = work(uint64(i))
		}(i)
	}
	all.Wait()
	fmt.Println(sums)
}
