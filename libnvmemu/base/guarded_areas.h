// SPDX-License-Identifier: Apache-2.0
// Memory of the emulator's own in equal pieces, a stack's say, below each of which what runs over it faults.
// Many are mapped at once: each mapping is an area to the kernel, of which a process has so many for all of
// its threads (vm.max_map_count, 65,530 unless somebody says otherwise). Zeros are a valid state.
#pragma once

#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "base/page_bytes.h"
#include "base/raw_syscall.h"

namespace nvmemu {

// Thread-safe, async-signal-safe: who finds another there has one mapped for himself, as has a child of a
// fork always where somebody was there then.
class GuardedAreas {
 public:
  // Whole pages of zeros, as many bytes each time. Null where there is no memory.
  char* take(std::size_t bytes) noexcept {
    const std::size_t each = kPageBytes + bytes;
    if (busy_.test_and_set(std::memory_order_acquire)) return take_alone(each);
    if (left_ == 0) map_more(each);
    char* const area = guarded(left_ > 0 ? next_ : nullptr);
    if (area != nullptr) next_ += each, --left_;
    busy_.clear(std::memory_order_release);
    return area;
  }

 private:
  static constexpr std::size_t kMostAtOnce = 64;

  static char* map(std::size_t bytes) noexcept {
    const long mapped = raw_syscall(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return is_error(mapped) ? nullptr : reinterpret_cast<char*>(mapped);
  }
  static char* take_alone(std::size_t each) noexcept {
    char* const mapped = map(each);
    char* const area = guarded(mapped);
    if (area == nullptr && mapped != nullptr) raw_syscall(SYS_munmap, mapped, each);
    return area;
  }
  // Ever more, for programs of one thread are the most; fewer where there is no memory for so many.
  void map_more(std::size_t each) noexcept {
    for (std::size_t many = next_many_ + 1; many > 0 && left_ == 0; many /= 2) {
      next_ = map(each * many);
      if (next_ != nullptr) left_ = many;
    }
    next_many_ = std::min(kMostAtOnce, 2 * left_ + 1) - 1;
  }
  // What is behind its first page, which from Linux 6.13 on is no area of its own; of locked memory it is.
  static char* guarded(char* area) noexcept {
    constexpr int kGuardInstall = 102;  // MADV_GUARD_INSTALL
    if (area == nullptr) return nullptr;
    const bool is_guarded = raw_syscall(SYS_madvise, area, kPageBytes, kGuardInstall) == 0 ||
                            raw_syscall(SYS_mprotect, area, kPageBytes, PROT_NONE) == 0;
    return is_guarded ? area + kPageBytes : nullptr;
  }

  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  char* next_ = nullptr;
  std::size_t left_ = 0, next_many_ = 0;  // behind `next_`; and to be mapped at once then, but for one
};

}  // namespace nvmemu
