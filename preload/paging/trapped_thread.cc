// SPDX-License-Identifier: Apache-2.0
#include "paging/trapped_thread.h"

#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "base/guarded_areas.h"
#include "base/page_bytes.h"
#include "base/raw_syscall.h"

namespace nvmemu::preload {
namespace {

constexpr std::size_t kMostThreads = 1U << 15;
constexpr int kFree = -1;
constexpr std::size_t kStackBytes = std::size_t{64} << 10;

struct Place {
  std::atomic<int> tid{0};  // whose it is. 0: nobody's ever; -1: free
  int last_tid = 0;         // whose it was: its stack is not used before that one is gone
  TrappedThread* thread = nullptr;

  void free_from(int last) noexcept {
    last_tid = last;
    tid.store(kFree, std::memory_order_release);
  }
};
constinit Place places[kMostThreads]{};
constinit GuardedAreas areas;

// Neither of this process, nor a child of vfork, which is one of its own.
bool is_gone(int tid) noexcept {
  return tid == 0 || (raw_syscall(SYS_tgkill, raw_syscall(SYS_getpid), tid, 0) == -ESRCH &&
                      raw_syscall(SYS_tgkill, tid, tid, 0) == -ESRCH);
}

// Where it is looked for, one after the other: in 1,024 places, which is as many areas as threads that live
// one after the other leave, then in others of which each stands behind one of these.
std::size_t place_of(int tid, std::size_t tried) noexcept {
  constexpr std::size_t kAtFirst = 1024, kBehind = kMostThreads / kAtFirst;
  const std::size_t first = static_cast<std::size_t>(static_cast<unsigned>(tid) * 2654435761U) % kAtFirst;
  return (first + tried / kBehind) % kAtFirst + tried % kBehind * kAtFirst;
}

Place* find(int tid) noexcept {
  for (std::size_t i = 0; i < kMostThreads; ++i) {
    Place& place = places[place_of(tid, i)];
    const int there = place.tid.load(std::memory_order_acquire);
    if (there == tid) return &place;
    if (there == 0) return nullptr;
  }
  return nullptr;
}

Place* take(int tid) noexcept {
  for (std::size_t i = 0; i < kMostThreads; ++i) {
    Place& place = places[place_of(tid, i)];
    int there = place.tid.load(std::memory_order_relaxed);
    // A child of vfork that has become another program told nobody.
    if (!is_gone(there == kFree ? place.last_tid : there)) continue;
    if (place.tid.compare_exchange_strong(there, tid)) return &place;
  }
  return nullptr;
}

Place* begin(int tid) noexcept {
  Place* const place = find(tid);
  return place != nullptr ? place : take(tid);
}

TrappedThread* make_thread() noexcept {
  char* const area = areas.take(kStackBytes + whole_pages(sizeof(TrappedThread)));
  return area == nullptr ? nullptr : new (area + kStackBytes) TrappedThread{};
}

}  // namespace

TrappedThread* trapped_thread() noexcept {
  const Place* const place = find(static_cast<int>(raw_syscall(SYS_gettid)));
  return place != nullptr ? place->thread : nullptr;
}

TrappedThread* begin_trapped_thread() noexcept {
  Place* const place = begin(static_cast<int>(raw_syscall(SYS_gettid)));
  if (place == nullptr) return nullptr;
  if (place->thread == nullptr) place->thread = make_thread();
  if (place->thread == nullptr) {
    place->free_from(0);
    return nullptr;
  }
  place->thread->has_programs_stack = false;
  return place->thread;
}

stack_t own_signal_stack(const TrappedThread& thread) noexcept {
  const auto top = reinterpret_cast<std::uintptr_t>(&thread);
  return {.ss_sp = reinterpret_cast<void*>(top - kStackBytes), .ss_flags = 0, .ss_size = kStackBytes};
}

bool lies_on(const stack_t& stack, std::uintptr_t stack_pointer) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(stack.ss_sp);
  return stack_pointer > begin && stack_pointer <= begin + stack.ss_size;
}

bool is_on_signal_stack(const TrappedThread& thread, std::uintptr_t stack_pointer) noexcept {
  return lies_on(thread.has_programs_stack ? thread.programs_stack : own_signal_stack(thread), stack_pointer);
}

void end_trapped_thread() noexcept {
  const int tid = static_cast<int>(raw_syscall(SYS_gettid));
  if (Place* const place = find(tid)) place->free_from(tid);
}

bool have_threads_but_first() noexcept {
  const int first = static_cast<int>(raw_syscall(SYS_getpid));
  return std::ranges::any_of(places, [first](const Place& place) {
    const int there = place.tid.load(std::memory_order_acquire);
    const int tid = there == kFree ? place.last_tid : there;
    return tid != first && !is_gone(tid);
  });
}

TrappedThread* keep_only(TrappedThread& thread) noexcept {
  Place* its = nullptr;
  for (Place& place : places) {
    if (place.tid.load(std::memory_order_relaxed) == 0) continue;
    if (place.thread == &thread) its = &place;
    if (place.thread != &thread && place.thread != nullptr) place.thread->calls.forget();
    place.free_from(0);
  }
  Place* const mine = begin(static_cast<int>(raw_syscall(SYS_gettid)));
  if (mine == nullptr || its == nullptr) return nullptr;
  std::swap(mine->thread, its->thread);
  return &thread;
}

}  // namespace nvmemu::preload
