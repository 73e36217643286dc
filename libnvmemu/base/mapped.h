// SPDX-License-Identifier: Apache-2.0
// Zeroed memory of its own for objects of which zeros are a valid state: what must not be allocated, and is
// large but touched little. Async-signal-safe.
#pragma once

#include <sys/mman.h>
#include <sys/syscall.h>

#include <cstddef>
#include <cstdint>

#include "base/emulator_memory.h"
#include "base/page_bytes.h"
#include "base/raw_syscall.h"

namespace nvmemu {

// mmap(2) for the emulator itself, which is noted: what that returns.
inline long map_noted(std::size_t bytes, int protection, int flags, long file = -1,
                      std::uint64_t offset = 0) noexcept {
  const long result = raw_syscall(SYS_mmap, nullptr, bytes, protection, flags, file, offset);
  if (!is_error(result)) EmulatorMemory::get().note(reinterpret_cast<const void*>(result), bytes);
  return result;
}

// So many of them, side by side. Null where there is no memory.
template <typename T>
T* map_zeroed(std::size_t count = 1) noexcept {
  const long result =
      map_noted(count * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
  return is_error(result) ? nullptr : reinterpret_cast<T*>(result);
}

// Makes the pages of it at once, to be written or only to be read: touched one by one they take twice as
// long, and ten times where each fault is a hypervisor's, too (15 us instead of 1). What a process shares
// with a child of fork it gets a copy of, to be written. False, and nothing, before Linux 5.14 or without
// memory.
enum class PagesFor : int { kReading = 22, kWriting = 23 };  // MADV_POPULATE_READ, MADV_POPULATE_WRITE
inline bool make_pages(const void* begin, std::size_t bytes, PagesFor use = PagesFor::kWriting) noexcept {
  const auto from = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t first = from & ~(kPageBytes - 1), end = whole_pages(from + bytes);
  return raw_syscall(SYS_madvise, first, end - first, static_cast<int>(use)) == 0;
}

// As it was at first, with its memory given back.
template <typename T>
void zero_mapped(T* object) noexcept {
  raw_syscall(SYS_madvise, object, sizeof(T), int{MADV_DONTNEED});
}

template <typename T>
void unmap(T* objects, std::size_t count = 1) noexcept {
  if (objects == nullptr) return;
  EmulatorMemory::get().forget(objects);
  raw_syscall(SYS_munmap, objects, count * sizeof(T));
}

}  // namespace nvmemu
