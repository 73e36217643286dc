// SPDX-License-Identifier: Apache-2.0
#include "thread_area.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <atomic>
#include <cstring>

#include "base/page_bytes.h"
#include "base/raw_syscall.h"

namespace nvmemu::preload {
namespace {

constexpr std::size_t kGuardBytes = kPageBytes;
constexpr std::size_t kStackBytes = std::size_t{64} << 10;
constexpr std::size_t kBelow = kGuardBytes + kStackBytes;  // the state

// Those of threads that have ended, for the next ones: to map one and touch it first takes longer than to
// begin a thread. Who finds the shelf busy does without.
struct Shelf {
  static constexpr std::size_t kRoom = 64;
  std::atomic_flag busy = ATOMIC_FLAG_INIT;
  std::size_t count = 0;
  void* states[kRoom]{};

  void* take() noexcept {
    if (busy.test_and_set(std::memory_order_acquire)) return nullptr;
    void* const state = count > 0 ? states[--count] : nullptr;
    busy.clear(std::memory_order_release);
    return state;
  }
  bool put(void* state) noexcept {
    if (busy.test_and_set(std::memory_order_acquire)) return false;
    const bool fits = count < kRoom;
    if (fits) states[count++] = state;
    busy.clear(std::memory_order_release);
    return fits;
  }
};
constinit Shelf shelf;

}  // namespace

void* take_thread_area(std::size_t bytes) noexcept {
  if (void* const used = shelf.take()) return std::memset(used, 0, bytes);
  const std::size_t mapped_bytes = kBelow + whole_pages(bytes);
  const long mapped = raw_syscall(SYS_mmap, nullptr, mapped_bytes, PROT_NONE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (is_error(mapped)) return nullptr;
  char* const begin = reinterpret_cast<char*>(mapped);
  const long opened =
      raw_syscall(SYS_mprotect, begin + kGuardBytes, mapped_bytes - kGuardBytes, PROT_READ | PROT_WRITE);
  if (opened == 0) return begin + kBelow;
  raw_syscall(SYS_munmap, begin, mapped_bytes);
  return nullptr;
}

void give_back_thread_area(void* state, std::size_t bytes) noexcept {
  if (state == nullptr || shelf.put(state)) return;
  raw_syscall(SYS_munmap, static_cast<char*>(state) - kBelow, kBelow + whole_pages(bytes));
}

// Who was at the shelf is not: what it had half put there may be what the thread that forks is using.
void abandon_thread_areas() noexcept {
  if (shelf.busy.test()) shelf.count = 0;
  shelf.busy.clear();
}

}  // namespace nvmemu::preload
