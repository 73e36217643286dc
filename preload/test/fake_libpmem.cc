// SPDX-License-Identifier: Apache-2.0
// In place of libpmem and libpmem2: does what a program can see of it, and counts.
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

extern "C" {

__attribute__((visibility("default"))) int fake_libpmem_calls = 0;

#define FAKE __attribute__((visibility("default")))

FAKE void pmem_flush(const void*, std::size_t) { ++fake_libpmem_calls; }
FAKE void pmem_drain(void) { ++fake_libpmem_calls; }
// By the functions of the library that others can stand before, as libpmem's own does.
FAKE void pmem_persist(const void* address, std::size_t bytes) {
  pmem_flush(address, bytes);
  pmem_drain();
  --fake_libpmem_calls;
}
FAKE void* pmem_memcpy_persist(void* to, const void* from, std::size_t bytes) {
  ++fake_libpmem_calls;
  return std::memcpy(to, from, bytes);
}
FAKE void* pmem_memset(void* to, int value, std::size_t bytes, unsigned) {
  ++fake_libpmem_calls;
  return std::memset(to, value, bytes);
}

// As the library has it: what lies on pages is made durable by the kernel.
static void persist_pages(const void* address, std::size_t bytes) {
  ++fake_libpmem_calls;
  const auto begin = reinterpret_cast<std::uintptr_t>(address) & ~std::uintptr_t{4095};
  msync(reinterpret_cast<void*>(begin), reinterpret_cast<std::uintptr_t>(address) + bytes - begin, MS_SYNC);
}
FAKE int pmem_msync(const void* address, std::size_t bytes) {
  persist_pages(address, bytes);
  return 0;
}

// Its functions are by what a mapping needs.
struct pmem2_map {
  bool has_pages;
};
using PersistFunction = void (*)(const void*, std::size_t);
static void drain_nothing() { ++fake_libpmem_calls; }
static void* copy(void* to, const void* from, std::size_t bytes, unsigned) {
  ++fake_libpmem_calls;
  return std::memmove(to, from, bytes);
}
static void* set(void* to, int value, std::size_t bytes, unsigned) {
  ++fake_libpmem_calls;
  return std::memset(to, value, bytes);
}
static void persist_lines(const void*, std::size_t) { ++fake_libpmem_calls; }
FAKE PersistFunction pmem2_get_persist_fn(pmem2_map* map) {
  return map->has_pages ? persist_pages : persist_lines;
}
FAKE PersistFunction pmem2_get_flush_fn(pmem2_map* map) {
  return map->has_pages ? persist_pages : persist_lines;
}
FAKE void (*pmem2_get_drain_fn(pmem2_map*))() { return drain_nothing; }
FAKE void* (*pmem2_get_memcpy_fn(pmem2_map*))(void*, const void*, std::size_t, unsigned) { return copy; }
FAKE void* (*pmem2_get_memset_fn(pmem2_map*))(void*, int, std::size_t, unsigned) { return set; }
}
