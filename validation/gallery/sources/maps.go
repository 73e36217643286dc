// SPDX-License-Identifier: Apache-2.0
// Goroutines that look up in maps larger than the caches; without C.
package main

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
	return sum
}

func main() {
	sums := make([]uint64, 32)
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
