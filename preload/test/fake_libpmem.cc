// SPDX-License-Identifier: Apache-2.0
// In place of libpmem: does what a program can see of it, and counts.
#include <cstddef>
#include <cstring>

extern "C" {

__attribute__((visibility("default"))) int fake_libpmem_calls = 0;

#define FAKE __attribute__((visibility("default")))

FAKE void pmem_persist(const void*, std::size_t) { ++fake_libpmem_calls; }
FAKE void pmem_flush(const void*, std::size_t) { ++fake_libpmem_calls; }
FAKE void pmem_drain(void) { ++fake_libpmem_calls; }
FAKE void* pmem_memcpy_persist(void* to, const void* from, std::size_t bytes) {
  ++fake_libpmem_calls;
  return std::memcpy(to, from, bytes);
}
FAKE void* pmem_memset(void* to, int value, std::size_t bytes, unsigned) {
  ++fake_libpmem_calls;
  return std::memset(to, value, bytes);
}
}
