// SPDX-License-Identifier: Apache-2.0
#include "thread_area.h"

#include <sys/syscall.h>

#include <atomic>
#include <cstring>

#include "base/guarded_areas.h"
#include "base/page_bytes.h"
#include "base/raw_syscall.h"

namespace nvmemu::preload {
namespace {

constexpr std::size_t kStackBytes = std::size_t{64} << 10;
// What is emulated has a ring of perf_event's, too: of the areas that the kernel lets a process have, most
// are the program's. Threads beyond that run natively.
constexpr int kMostAreas = 8192;

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
constinit GuardedAreas areas;
constinit std::atomic<int> used_areas{0};  // those on the shelf, too

}  // namespace

void* take_thread_area(std::size_t bytes) noexcept {
  if (void* const used = shelf.take()) return std::memset(used, 0, bytes);
  if (used_areas.fetch_add(1, std::memory_order_relaxed) < kMostAreas) {
    if (char* const area = areas.take(kStackBytes + whole_pages(bytes))) return area + kStackBytes;
  }
  used_areas.fetch_sub(1, std::memory_order_relaxed);
  return nullptr;
}

void give_back_thread_area(void* state, std::size_t bytes) noexcept {
  if (state == nullptr || shelf.put(state)) return;
  used_areas.fetch_sub(1, std::memory_order_relaxed);
  constexpr std::size_t kBelow = kPageBytes + kStackBytes;  // the state
  raw_syscall(SYS_munmap, static_cast<char*>(state) - kBelow, kBelow + whole_pages(bytes));
}

// Who was at the shelf is not: what it had half put there may be what the thread that forks is using. It is
// alone now, and others' rings are not mapped here.
void abandon_thread_areas() noexcept {
  if (shelf.busy.test()) shelf.count = 0;
  shelf.busy.clear();
  used_areas.store(static_cast<int>(shelf.count) + 1, std::memory_order_relaxed);
}

}  // namespace nvmemu::preload
