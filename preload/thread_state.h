// SPDX-License-Identifier: Apache-2.0
// One thread of the host program, emulated.
#pragma once

#include <signal.h>
#include <ucontext.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include "counters/pmu/pmu_source.h"
#include "counters/record/recording_source.h"
#include "counters/replay/replay_source.h"
#include "counters/sampler/sampler.h"
#include "epoch/edge_watch.h"
#include "epoch/thread_emulator.h"
#include "report/board.h"

namespace nvmemu::preload {

// Of the calling thread, whatever its thread-local storage. Async-signal-safe.
int current_tid() noexcept;

// Lives in the thread's static TLS, so that handlers find it without a call and no thread allocates for it.
// Nothing is constructed before begin().
class ThreadState {
 public:
  // Starts the emulation of the calling thread, which must not have begun; false where it cannot be.
  bool begin() noexcept;
  // Likewise for a thread of which nothing thread-local may be touched (see foreign_threads.h): the calling
  // one or another. The functions named so are for it, and abandon().
  bool begin_foreign(int tid) noexcept;
  void on_foreign_tick(const ucontext_t& context) noexcept;
  void end_foreign() noexcept;  // on the thread itself
  void forget() noexcept;       // when it has ended, or is gone

  // The last epoch: what is owed is paid, the board has the final figures, counting ends. Twice does no harm.
  void end() noexcept;
  // Ends the epoch that is running; a no-op on a thread that is not emulated.
  void end_epoch() noexcept;
  // Nothing is injected from hold() to release(), where an epoch that should have ended meanwhile ends.
  void hold() noexcept {
    held_.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  void release() noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    held_.store(false, std::memory_order_relaxed);
    if (postponed_.load(std::memory_order_relaxed)) [[unlikely]]
      end_postponed_epoch();
  }
  // Before an operation that may let another thread go on, or wait for one: what is owed is paid, when enough
  // time has passed since the last edge to owe anything. `site` tells this edge from others, not 0. A few ns
  // otherwise. Async-signal-safe; a no-op on a thread that is not emulated.
  void reach_edge(const void* site) noexcept {
    if (!edges_.passes_by() && ready_.load(std::memory_order_relaxed)) check_edge(site);
  }

  // After a call in which the thread may have spun while it waited for another: what the next edge pays for
  // begins here. Async-signal-safe.
  void end_wait() noexcept;

  // In the child of a fork: drops what belongs to the parent's thread.
  void abandon() noexcept;

  // True on the thread that began, in its own process: not in the child of a vfork, which borrows its
  // parent's TLS.
  bool is_mine() const noexcept;

  // Signal handlers' halves.
  void on_tick(const ucontext_t& context) noexcept;
  bool on_trap(const siginfo_t& info, const ucontext_t& context) noexcept;

  // A trap is being handled: one that the handler runs into itself must find nothing to do.
  bool in_trap;

 private:
  // Marks the emulator as working on this thread, so that a tick that interrupts it does nothing. A program's
  // handler may leave by longjmp from within: a mark whose stack frame is gone is stale.
  class Busy;

  ThreadEmulator& emulator() noexcept { return *std::launder(reinterpret_cast<ThreadEmulator*>(emulator_)); }
  int open(int tid, TickerKind ticker, bool foreign) noexcept;
  int open_source(ThreadSource& source, TickerKind ticker, bool foreign) noexcept;
  CounterSource& told_source(bool foreign) noexcept;
  void claim_slot() noexcept;
  void publish(bool ended) noexcept;
  void publish_traffic() noexcept;
  void check_edge(const void* site) noexcept;
  void pay_at_edge(const void* site) noexcept;
  void end_postponed_epoch() noexcept;

  union {  // what counts, of which there is one at a time
    alignas(Sampler) std::byte sampler_[sizeof(Sampler)];
    alignas(PmuSource) std::byte pmu_[sizeof(PmuSource)];
  };
  ThreadSource* source_;
  union {  // around it, where counts are kept or replayed
    alignas(RecordingSource) std::byte recording_[sizeof(RecordingSource)];
    alignas(ReplaySource) std::byte replay_[sizeof(ReplaySource)];
  };
  alignas(ThreadEmulator) std::byte emulator_[sizeof(ThreadEmulator)];
  EdgeWatch edges_;
  std::atomic<bool> ready_;
  std::atomic<bool> held_;       // the program is timing something
  std::atomic<bool> postponed_;  // an epoch should have ended while it was
  std::atomic<const void*> busy_frame_;
  int tid_;
  bool has_claimed_;
  BoardThread* slot_;  // null where the board is full
  // What is on the board already.
  TrafficCounts published_;
  double published_held_ns_;
  std::uint64_t published_until_ns_;
};

// Storage only: ThreadState has no constructor to run, and TLS is zeroed. __thread, unlike thread_local,
// promises the compiler as much, and needs no call.
extern __thread std::byte thread_state_storage[sizeof(ThreadState)];

// The calling thread's: valid, and not begun, from the thread's first instruction.
inline ThreadState& this_thread() noexcept { return *reinterpret_cast<ThreadState*>(thread_state_storage); }

}  // namespace nvmemu::preload
