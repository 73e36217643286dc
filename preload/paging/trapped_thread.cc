// SPDX-License-Identifier: Apache-2.0
#include "paging/trapped_thread.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/raw_syscall.h"

namespace nvmemu::preload {
namespace {

constexpr std::size_t kMostThreads = 1U << 13;
constexpr int kFree = -1;
constexpr std::size_t kGuardBytes = 4096;
constexpr std::size_t kStackBytes = std::size_t{64} << 10;

constinit TrappedThread threads[kMostThreads]{};  // touched as far as it is used

// Neither of this process, nor a child of vfork, which is one of its own.
bool is_gone(int tid) noexcept {
  return tid == 0 || (raw_syscall(SYS_tgkill, raw_syscall(SYS_getpid), tid, 0) == -ESRCH &&
                      raw_syscall(SYS_tgkill, tid, tid, 0) == -ESRCH);
}

std::size_t first_place(int tid) noexcept {
  return static_cast<std::size_t>(static_cast<unsigned>(tid) * 2654435761U) % kMostThreads;
}

TrappedThread* find(int tid) noexcept {
  for (std::size_t i = 0; i < kMostThreads; ++i) {
    TrappedThread& thread = threads[(first_place(tid) + i) % kMostThreads];
    const int there = thread.tid.load(std::memory_order_acquire);
    if (there == tid) return &thread;
    if (there == 0) return nullptr;
  }
  return nullptr;
}

TrappedThread* take(int tid) noexcept {
  for (std::size_t i = 0; i < kMostThreads; ++i) {
    TrappedThread& thread = threads[(first_place(tid) + i) % kMostThreads];
    int there = thread.tid.load(std::memory_order_relaxed);
    // A child of vfork that has become another program told nobody.
    if (!is_gone(there == kFree ? thread.last_tid : there)) continue;
    if (!thread.tid.compare_exchange_strong(there, tid)) continue;
    return &thread;
  }
  return nullptr;
}

}  // namespace

TrappedThread* trapped_thread() noexcept { return find(static_cast<int>(raw_syscall(SYS_gettid))); }

TrappedThread* begin_trapped_thread() noexcept {
  const int tid = static_cast<int>(raw_syscall(SYS_gettid));
  TrappedThread* thread = find(tid);
  if (thread == nullptr) thread = take(tid);
  if (thread == nullptr) return nullptr;
  thread->has_programs_stack = false;
  return thread;
}

stack_t own_signal_stack(TrappedThread& thread) noexcept {
  stack_t stack{};
  if (thread.stack == nullptr) {
    const long mapped = raw_syscall(SYS_mmap, nullptr, kGuardBytes + kStackBytes, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (is_error(mapped)) return stack;
    raw_syscall(SYS_mprotect, mapped, kGuardBytes, PROT_NONE);
    thread.stack = reinterpret_cast<void*>(mapped + static_cast<long>(kGuardBytes));
  }
  stack.ss_sp = thread.stack;
  stack.ss_size = kStackBytes;
  return stack;
}

bool lies_on(const stack_t& stack, std::uintptr_t stack_pointer) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(stack.ss_sp);
  return stack_pointer > begin && stack_pointer <= begin + stack.ss_size;
}

bool is_on_signal_stack(const TrappedThread& thread, std::uintptr_t stack_pointer) noexcept {
  if (thread.has_programs_stack) return lies_on(thread.programs_stack, stack_pointer);
  stack_t own{};
  own.ss_sp = thread.stack;
  own.ss_size = kStackBytes;
  return lies_on(own, stack_pointer);
}

void forget_trapped_thread(TrappedThread& thread) noexcept {
  thread.last_tid = thread.tid.load(std::memory_order_relaxed);
  thread.tid.store(kFree, std::memory_order_release);
}

bool have_threads_but_first() noexcept {
  const int first = static_cast<int>(raw_syscall(SYS_getpid));
  return std::ranges::any_of(threads, [first](const TrappedThread& thread) {
    const int there = thread.tid.load(std::memory_order_acquire);
    const int tid = there == kFree ? thread.last_tid : there;
    return tid != first && !is_gone(tid);
  });
}

TrappedThread* keep_only(TrappedThread& thread) noexcept {
  for (TrappedThread& other : threads) {
    if (&other == &thread || other.tid.load(std::memory_order_relaxed) == 0) continue;
    other.calls.forget();
    other.last_tid = 0;
    other.tid.store(kFree, std::memory_order_relaxed);
  }
  TrappedThread* const mine = begin_trapped_thread();
  if (mine == nullptr) return nullptr;
  if (mine != &thread) {
    std::swap(mine->calls, thread.calls);
    thread.calls.forget();
  }
  std::swap(mine->stack, thread.stack);
  mine->programs_stack = thread.programs_stack;
  mine->has_programs_stack = thread.has_programs_stack;
  thread.last_tid = 0;
  thread.tid.store(kFree, std::memory_order_relaxed);
  return mine;
}

}  // namespace nvmemu::preload
