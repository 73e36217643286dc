// SPDX-License-Identifier: Apache-2.0
#include "foreign_threads.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "atomic_set.h"
#include "base/folder_entries.h"
#include "base/raw_syscall.h"
#include "handlers.h"
#include "paging/process_pager.h"
#include "runtime.h"

namespace nvmemu::preload {
namespace {

constexpr int kFree = 0;
constexpr int kTaken = -1;  // being filled, or emptied
constexpr double kScanIntervalNs = 100e6;

struct Slot {
  std::atomic<int> tid;
  ThreadState* state;  // where it is neither free nor taken
};

Slot slots[64];
std::atomic<int> foreign_count;
AtomicSet<16384> known;
std::atomic<int> known_count;

std::atomic<std::uint64_t> next_scan_ticks;
std::atomic<long> last_seen;  // how many threads there were at the last scan, of which so many known
std::atomic_flag changing = ATOMIC_FLAG_INIT;  // held by whoever adds or removes threads that are not its own

Slot* slot_of(int tid) noexcept {
  for (Slot& slot : slots) {
    if (slot.tid.load(std::memory_order_acquire) == tid) return &slot;
  }
  return nullptr;
}

Slot* adopt(int tid) noexcept {
  for (Slot& slot : slots) {
    int expected = kFree;
    if (!slot.tid.compare_exchange_strong(expected, kTaken)) continue;
    slot.state = ThreadState::begin_foreign(tid);
    const bool begun = slot.state != nullptr;
    foreign_count.fetch_add(begun ? 1 : 0);
    slot.tid.store(begun ? tid : kFree, std::memory_order_release);
    return begun ? &slot : nullptr;
  }
  return nullptr;
}

// Of a thread that runs this itself, or is gone.
void forget(Slot& slot) noexcept {
  slot.tid.store(kTaken);
  slot.state->forget();
  foreign_count.fetch_sub(1);
  slot.tid.store(kFree, std::memory_order_release);
}

bool is_due() noexcept {
  const Clock& clock = Runtime::get().clock();
  const std::uint64_t now = clock.now_ticks();
  std::uint64_t next = next_scan_ticks.load(std::memory_order_relaxed);
  return now >= next && next_scan_ticks.compare_exchange_strong(next, now + clock.to_ticks(kScanIntervalNs));
}

// Without the emulator's own. A task folder has a link for each thread, and its own two.
long count_threads() noexcept {
  struct stat status {};
  if (raw_syscall(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &status, 0) != 0) return 0;
  return static_cast<long>(status.st_nlink) - 2 - (ProcessPager::fault_thread().tid() != 0 ? 1 : 0);
}

// By the numbers of this process' own namespace, which those in /proc may not be.
bool is_gone(int tid) noexcept { return raw_syscall(SYS_tgkill, raw_syscall(SYS_getpid), tid, 0) != 0; }

void scan() noexcept {
  for (Slot& slot : slots) {
    const int tid = slot.tid.load();
    if (tid > 0 && is_gone(tid)) forget(slot);
  }
  const int own = ProcessPager::fault_thread().tid();
  for_each_numbered_entry("/proc/self/task", [own](int tid) {
    if (tid == own) return;
    if (known.contains(static_cast<std::uintptr_t>(tid)) || slot_of(tid) != nullptr || is_gone(tid)) return;
    adopt(tid);
  });
}

}  // namespace

void add_known_thread(int tid) noexcept {
  const auto number = static_cast<std::uintptr_t>(tid);
  if (!known.contains(number) && known.add(number)) known_count.fetch_add(1);
}

void remove_known_thread(int tid) noexcept {
  if (known.remove(static_cast<std::uintptr_t>(tid))) known_count.fetch_sub(1);
}

ThreadState* foreign_thread() noexcept {
  if (foreign_count.load() == 0) return nullptr;
  const int tid = current_tid();
  Slot* slot = slot_of(tid);
  if (slot == nullptr) return nullptr;
  if (!known.contains(static_cast<std::uintptr_t>(tid))) return slot->state;
  forget(*slot);  // it was found before it had begun as a thread of the C library's
  return nullptr;
}

ThreadState* begin_foreign_thread() noexcept {
  while (changing.test_and_set(std::memory_order_acquire)) raw_syscall(SYS_sched_yield);
  Slot* slot = slot_of(current_tid());
  if (slot == nullptr) slot = adopt(current_tid());
  changing.clear(std::memory_order_release);
  return slot == nullptr ? nullptr : slot->state;
}

void end_foreign_thread(ThreadState* state) noexcept {
  state->end_foreign();
  if (Slot* slot = slot_of(current_tid())) forget(*slot);
}

void find_foreign_threads() noexcept {
  if (!is_due()) return;
  const long there = count_threads();
  const long expected = known_count.load() + foreign_count.load();
  constexpr long kMany = 1L << 32;
  if (there <= 0 || there == expected || there * kMany + expected == last_seen.load()) return;
  if (!handlers_in_place() || changing.test_and_set(std::memory_order_acquire)) return;
  scan();
  last_seen.store(count_threads() * kMany + known_count.load() + foreign_count.load());
  changing.clear(std::memory_order_release);
}

void abandon_foreign_threads() noexcept {
  for (Slot& slot : slots) {
    if (slot.tid.load() > 0) slot.state->abandon();
    slot.tid.store(kFree);
  }
  foreign_count.store(0);
  known_count.store(0);
  next_scan_ticks.store(0);
  changing.clear();
}

}  // namespace nvmemu::preload
