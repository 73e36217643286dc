// SPDX-License-Identifier: Apache-2.0
#include "own_heap.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory_resource>
#include <mutex>
#include <new>
#include <utility>

#include "base/page_bytes.h"
#include "base/raw_syscall.h"
#include "base/spin_lock.h"

namespace nvmemu::preload::own_heap {
namespace {

// Where the kernel refuses, what it takes to say so and to let the program run is here.
alignas(kPageBytes) constinit std::byte reserve[512 << 10]{};
constinit std::size_t used = 0;

class PagesOfKernel : public std::pmr::memory_resource {
  void* do_allocate(std::size_t bytes, std::size_t) override {
    const long mapped = raw_syscall(SYS_mmap, nullptr, whole_pages(bytes), PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!is_error(mapped)) return reinterpret_cast<void*>(mapped);
    if (whole_pages(bytes) > sizeof reserve - used) throw std::bad_alloc();
    return reserve + std::exchange(used, used + whole_pages(bytes));
  }
  void do_deallocate(void* block, std::size_t bytes, std::size_t) override {
    const bool is_of_reserve =
        !std::less<>()(block, reserve) && std::less<>()(block, reserve + sizeof reserve);
    if (!is_of_reserve) raw_syscall(SYS_munmap, block, whole_pages(bytes));
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

// Before each block: what it is a part of.
struct Header {
  std::size_t bytes;   // of the whole,
  std::size_t before;  // and of it before the block
};
// The pools align what is a multiple of this to it, and nothing to more.
constexpr std::size_t kUnit = alignof(std::max_align_t), kMostAlignment = kPageBytes;
static_assert(sizeof(Header) == kUnit);

constinit SpinLock heap_lock{};

// Made where it is first needed, which is before any constructor, and never destroyed.
std::pmr::memory_resource& blocks() {
  alignas(PagesOfKernel) static std::byte pages[sizeof(PagesOfKernel)];
  using Pools = std::pmr::unsynchronized_pool_resource;
  alignas(Pools) static std::byte pools[sizeof(Pools)];
  static Pools* made = nullptr;
  if (made == nullptr)
    made = new (pools) Pools({.max_blocks_per_chunk = 256, .largest_required_pool_block = 16 << 10},
                             new (pages) PagesOfKernel);
  return *made;
}

Header& header_of(void* block) noexcept { return static_cast<Header*>(block)[-1]; }

}  // namespace

void lock() noexcept { heap_lock.lock(); }
void unlock() noexcept { heap_lock.unlock(); }

void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  constexpr std::size_t kMostBytes = PTRDIFF_MAX - 2 * kMostAlignment;
  if (!std::has_single_bit(alignment) || alignment > kMostAlignment || bytes > kMostBytes) return nullptr;
  const std::size_t most_before = std::max(alignment, sizeof(Header));
  const std::size_t whole = (bytes + most_before + kUnit - 1) & ~(kUnit - 1);
  const std::lock_guard guard(heap_lock);
  try {
    auto* const begin = static_cast<std::byte*>(blocks().allocate(whole, kUnit));
    const auto first = reinterpret_cast<std::uintptr_t>(begin) + sizeof(Header);
    const std::size_t before = sizeof(Header) + (~(first - 1) & (alignment - 1));
    header_of(begin + before) = {whole, before};
    return begin + before;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void release(void* block) noexcept {
  if (block == nullptr) return;
  const std::lock_guard guard(heap_lock);
  const Header header = header_of(block);
  blocks().deallocate(static_cast<std::byte*>(block) - header.before, header.bytes, kUnit);
}

void* resize(void* block, std::size_t bytes) noexcept {
  void* const other = allocate(bytes);
  if (block == nullptr || other == nullptr) return other;
  const Header& header = header_of(block);
  std::memcpy(other, block, std::min(bytes, header.bytes - header.before));
  release(block);
  return other;
}

}  // namespace nvmemu::preload::own_heap

using namespace nvmemu::preload;

// What the linker has in place of the functions of these names.
extern "C" {
void* __wrap_malloc(std::size_t bytes) { return own_heap::allocate(bytes); }
void __wrap_free(void* block) { own_heap::release(block); }
void* __wrap_realloc(void* block, std::size_t bytes) { return own_heap::resize(block, bytes); }
void* __wrap_calloc(std::size_t count, std::size_t bytes) {
  std::size_t whole = 0;
  if (__builtin_mul_overflow(count, bytes, &whole)) return nullptr;
  void* const block = own_heap::allocate(whole);
  return block == nullptr ? nullptr : std::memset(block, 0, whole);
}
void* __wrap_aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return own_heap::allocate(bytes, alignment);
}
char* __wrap_strdup(const char* text) {
  const std::size_t bytes = std::strlen(text) + 1;
  void* const block = own_heap::allocate(bytes);
  return block == nullptr ? nullptr : static_cast<char*>(std::memcpy(block, text, bytes));
}

// This one translates, for which the C library allocates.
char* __wrap_strerror(int number) {
  const char* const text = strerrordesc_np(number);
  return const_cast<char*>(text != nullptr ? text : "unknown error");
}

// These give memory of the C library's where they are given none.
char* __real_realpath(const char* path, char* room);
char* __wrap_realpath(const char* path, char* room) {
  char own[PATH_MAX];
  if (room != nullptr) return __real_realpath(path, room);
  return __real_realpath(path, own) == nullptr ? nullptr : __wrap_strdup(own);
}
char* __real_getcwd(char* room, std::size_t bytes);
char* __wrap_getcwd(char* room, std::size_t bytes) {
  char own[PATH_MAX];
  if (room != nullptr) return __real_getcwd(room, bytes);
  return __real_getcwd(own, sizeof own) == nullptr ? nullptr : __wrap_strdup(own);
}
}
