// SPDX-License-Identifier: Apache-2.0
// A library of its own, preloaded only where a rule speaks of blocks: without, allocating costs what it
// costs. It stands in front of whatever allocator the program has, and tells of large blocks that it gives.
#include <dlfcn.h>
#include <malloc.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "allocations.h"

#define NVMEMU_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

// What the dynamic linker itself asks for while the allocator behind is looked up. Never given back.
alignas(16) char early_memory[4096];
std::atomic<std::size_t> early_bytes{0};

void* take_early(std::size_t bytes) noexcept {
  const std::size_t rounded = (bytes + 15) & ~std::size_t{15};
  const std::size_t at = early_bytes.fetch_add(rounded);
  return at + rounded <= sizeof early_memory ? early_memory + at : nullptr;
}
bool is_early(const void* block) noexcept {
  return block >= early_memory && block < early_memory + sizeof early_memory;
}

struct Allocator {
  void* (*malloc)(std::size_t);
  void* (*calloc)(std::size_t, std::size_t);
  void* (*realloc)(void*, std::size_t);
  void (*free)(void*);
  int (*posix_memalign)(void**, std::size_t, std::size_t);
  void* (*aligned_alloc)(std::size_t, std::size_t);
  void* (*memalign)(std::size_t, std::size_t);
  std::size_t (*usable_size)(void*);
} behind;
std::atomic<bool> is_known{false}, is_looked_up{false};

template <typename Function>
void look_up(Function*& function, const char* name) noexcept {
  void* const found = dlsym(RTLD_NEXT, name);
  std::memcpy(&function, &found, sizeof found);
}

// False while it is being looked up.
bool look_all_up() noexcept {
  if (is_looked_up.exchange(true)) return is_known.load(std::memory_order_acquire);
  look_up(behind.malloc, "malloc");
  look_up(behind.calloc, "calloc");
  look_up(behind.realloc, "realloc");
  look_up(behind.free, "free");
  look_up(behind.posix_memalign, "posix_memalign");
  look_up(behind.aligned_alloc, "aligned_alloc");
  look_up(behind.memalign, "memalign");
  look_up(behind.usable_size, "malloc_usable_size");
  is_known.store(true, std::memory_order_release);
  return true;
}
bool knows() noexcept {
  return __builtin_expect(is_known.load(std::memory_order_acquire), 1) || look_all_up();
}

// Asked until the emulation has begun.
std::size_t least_block() noexcept {
  static std::atomic<std::size_t> least{~std::size_t{0}};
  std::size_t known = least.load(std::memory_order_relaxed);
  if (known == ~std::size_t{0}) least.store(known = nvmemu_least_block(), std::memory_order_relaxed);
  return known;
}

void* taken(void* block, std::size_t bytes) noexcept {
  constexpr std::size_t kLeast = std::size_t{64} << 10;  // that a rule can speak of
  if (bytes >= kLeast && block != nullptr && bytes >= least_block()) nvmemu_block_taken(block, bytes);
  return block;
}

void give_back(void* block) noexcept {
  if (nvmemu_block_is_placed(block) != 0) nvmemu_block_given_back(block, behind.usable_size(block));
}

}  // namespace

NVMEMU_EXPORT void* malloc(std::size_t bytes) noexcept {
  return knows() ? taken(behind.malloc(bytes), bytes) : take_early(bytes);
}

NVMEMU_EXPORT void* calloc(std::size_t count, std::size_t bytes) noexcept {
  std::size_t whole = 0;
  const bool fits = !__builtin_mul_overflow(count, bytes, &whole);
  if (!knows()) return fits ? take_early(whole) : nullptr;
  void* const block = behind.calloc(count, bytes);
  return fits ? taken(block, whole) : block;
}

NVMEMU_EXPORT void free(void* block) noexcept {
  if (block == nullptr || is_early(block)) return;
  if (!knows()) return;  // of nobody's: nothing was given yet
  give_back(block);
  behind.free(block);
}

NVMEMU_EXPORT void* realloc(void* block, std::size_t bytes) noexcept {
  if (block == nullptr) return malloc(bytes);
  if (is_early(block) || !knows()) {
    void* const moved = malloc(bytes);
    const std::size_t most =
        static_cast<std::size_t>(early_memory + sizeof early_memory - static_cast<char*>(block));
    if (moved != nullptr) std::memcpy(moved, block, bytes < most ? bytes : most);
    return moved;
  }
  const bool was_placed = nvmemu_block_is_placed(block) != 0;
  const std::size_t before = behind.usable_size(block);
  if (was_placed) nvmemu_block_given_back(block, before);
  void* const moved = behind.realloc(block, bytes);
  if (moved == nullptr && bytes != 0 && was_placed) taken(block, before);  // it is still there
  return taken(moved, bytes);
}

NVMEMU_EXPORT void* reallocarray(void* block, std::size_t count, std::size_t bytes) noexcept {
  std::size_t whole = 0;
  if (!__builtin_mul_overflow(count, bytes, &whole)) return realloc(block, whole);
  errno = ENOMEM;
  return nullptr;
}

NVMEMU_EXPORT int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) noexcept {
  if (!knows()) return ENOMEM;
  const int error = behind.posix_memalign(block, alignment, bytes);
  if (error == 0) taken(*block, bytes);
  return error;
}
NVMEMU_EXPORT void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  return knows() ? taken(behind.aligned_alloc(alignment, bytes), bytes) : nullptr;
}
NVMEMU_EXPORT void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  return knows() ? taken(behind.memalign(alignment, bytes), bytes) : nullptr;
}
NVMEMU_EXPORT void* valloc(std::size_t bytes) noexcept {
  constexpr std::size_t kPage = 4096;
  return memalign(kPage, bytes);
}
