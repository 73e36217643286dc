// SPDX-License-Identifier: Apache-2.0
// One thread of the host program, emulated.
#pragma once

#include <signal.h>
#include <ucontext.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "counters/pmu/pmu_source.h"
#include "counters/record/recording_source.h"
#include "counters/replay/replay_source.h"
#include "counters/sampler/sampler.h"
#include "epoch/edge_watch.h"
#include "epoch/thread_emulator.h"
#include "own_stack.h"
#include "signal_mask.h"
#include "thread_line.h"

// Code in which the emulator is told of a persist: walks know it by where it lies.
#define NVMEMU_TOLD __attribute__((noinline, section("nvmemu_told")))
extern "C" const char __start_nvmemu_told[] __attribute__((visibility("hidden")));
extern "C" const char __stop_nvmemu_told[] __attribute__((visibility("hidden")));

namespace nvmemu::preload {

// Of the calling thread, whatever its thread-local storage. Async-signal-safe.
int current_tid() noexcept;

// Lies in memory of the emulator's own (thread_area.h), zeros before it begins. What works for long, or deep,
// does so on a stack of the emulator's, with the program's signals blocked: only the wait for what is owed is
// on the program's, where its handlers may interrupt it, throw out of it or jump.
class ThreadState {
 public:
  // Starts the emulation of the calling thread, which must not have begun; false where it cannot be.
  static bool begin() noexcept;
  // Ends it, where the thread goes no further in the program's code, and gives its memory back.
  static void end_for_good();
  // No thread begins any more; none but the calling one is touched any more, by system calls for one.
  static void begin_no_more() noexcept { begins_no_more_.store(true, std::memory_order_relaxed); }
  static void end_others() noexcept { is_over_.store(true); }
  static bool is_over() noexcept { return is_over_.load(std::memory_order_relaxed); }
  // Lives while a thread is where the emulator makes system calls. How many do.
  class AtWork {
   public:
    AtWork() noexcept { count_.fetch_add(1); }
    ~AtWork() { count_.fetch_sub(1); }
    AtWork(const AtWork&) = delete;
    AtWork& operator=(const AtWork&) = delete;
    static int count() noexcept { return count_.load(); }
    static void left_by_jump() noexcept { count_.fetch_sub(1); }

   private:
    static inline std::atomic<int> count_{0};
  };
  // Likewise for a thread of which nothing thread-local may be touched (see foreign_threads.h): the calling
  // one or another. The functions named so are for it, and abandon(). Null where it cannot be.
  static ThreadState* begin_foreign(int tid) noexcept;
  void on_foreign_tick(const ucontext_t& context);
  void end_foreign();  // on the thread itself
  // When it has ended, or is gone. Its memory is given back.
  void forget() noexcept;

  // The last epoch: what is owed is paid, the board has the final figures, counting ends. Twice does no harm.
  // With the mask that the program's signals have meanwhile.
  void end(SignalMask programs_mask);
  void end();
  // Ends the epoch that is running; a no-op on a thread that is not emulated.
  void end_epoch();
  // Nothing is injected from hold() to release(), where an epoch that should have ended meanwhile ends.
  void hold() noexcept {
    held_.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  void release() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    held_.store(false, std::memory_order_relaxed);
    if (postponed_.load(std::memory_order_relaxed)) [[unlikely]]
      end_postponed_epoch();
  }
  // Before an operation that may let another thread go on, or wait for one: what is owed is paid, when enough
  // time has passed since the last edge to owe anything. `site` tells this edge from others, not 0. A few ns
  // otherwise. Async-signal-safe; a no-op on a thread that is not emulated.
  void reach_edge(const void* site) {
    if (is_ready() && !edges_.passes_by()) check_edge(site);
  }

  // After a call in which the thread may have spun while it waited for another: what the next edge pays for
  // begins here. Async-signal-safe.
  void end_wait() noexcept;

  // The thread, which is_mine(), has waited for a device, and spun for so long of it: that is injected time.
  // Told when its time is booked next. Async-signal-safe; some nanoseconds.
  void note_device_wait(std::uint64_t spun_ns) noexcept;
  // A page fault at `pc` has been mended.
  void note_fault(std::uintptr_t pc) noexcept {
    if (is_mine()) source_->note_fault(pc);
  }

  // The program flushes these bytes; and then fences, behind which it goes on; or is told that they are
  // durable. Outside of its signal handlers.
  NVMEMU_TOLD void note_flush(const void* address, std::size_t bytes) noexcept;
  NVMEMU_TOLD void note_drain() noexcept;
  void note_durable() noexcept;
  // It makes a file of that tier durable, of whatever of it has changed.
  void note_file_flush(TierId tier) noexcept;
  // What is called from here on, from frames below `frame`, has been noted. Gives what end_told() is to be
  // told. Of one that is left by a jump the next one takes the place.
  const void* begin_told(const void* frame) noexcept {
    return is_ready() ? std::exchange(told_in_, frame) : nullptr;
  }
  void end_told(const void* before) noexcept {
    if (is_ready()) told_in_ = before;
  }
  bool is_told(const void* frame) const noexcept { return frame < told_in_; }

  // Before a jump out of a handler, which may have interrupted a wait: what was paid is booked.
  void leave_wait() noexcept;

  // In the child of a fork: drops what belongs to the parent's thread.
  void abandon() noexcept;

  // True on the thread that began, in its own process: not in the child of a vfork, which borrows its
  // parent's thread-local storage.
  bool is_mine() const noexcept;

  // The signal handler's half, with all signals blocked.
  void on_tick(const ucontext_t& context);
  // A signal of the program's own that a tick comes by, too, may be all that is left of its first. (A child
  // of a fork that nobody was told of has not got what the ticker has mapped.)
  bool has_lost_tick() const noexcept { return is_mine() && source_->has_lost_tick(); }
  // A fault in the emulator's own work, if that is what it is doing: it will be left, and the thread goes on
  // natively.
  bool is_at_work() const noexcept { return stack_.in_use(); }
  void leave_work(ucontext_t& context) const noexcept { stack_.leave(context); }

 private:
  static inline std::atomic<bool> begins_no_more_{false}, is_over_{false};
  bool is_ready() const noexcept {
    return ready_.load(std::memory_order_relaxed) && !is_over_.load(std::memory_order_relaxed);
  }
  ThreadEmulator& emulator() noexcept { return *std::launder(reinterpret_cast<ThreadEmulator*>(emulator_)); }
  void begin_here() noexcept;
  void end_here() noexcept;
  static bool carries() noexcept;
  int open(int tid, TickerKind ticker, bool foreign) noexcept;
  int open_source(ThreadSource& source, TickerKind ticker, bool foreign) noexcept;
  CounterSource& told_source(bool foreign) noexcept;
  // On the emulator's stack; false where the thread is not emulated from now on.
  template <typename Work>
  bool work(Work work) noexcept;
  // Books by `book`, waits as the program's mask lets it, and settles. With all signals blocked.
  template <typename Book>
  void pay(SignalMask programs_mask, const Book& book);
  template <typename Book>
  bool is_due_after(const Book& book);
  void wait(SignalMask programs_mask);
  void settle() noexcept;
  void tell_device_waits() noexcept;
  bool is_waiting_at(const ucontext_t& context) const noexcept;
  void publish() noexcept;
  void check_edge(const void* site);
  void pay_at_edge(const void* site);
  bool is_leaving() const noexcept;
  void end_postponed_epoch();

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
  std::atomic<std::uint64_t> device_waits_ns_;  // spun, and not told yet
  std::atomic<bool> held_;                      // the program is timing something
  std::atomic<bool> postponed_;                 // an epoch should have ended while it was
  std::atomic<std::uint64_t>
      leaving_since_ticks_;  // a handler of the program's by a jump, amid a wait; 0: not
  OwnStack stack_;
  int tid_;
  ThreadLine line_;
  ByTier<FlushedLines> flushed_;
  const void* told_in_;  // the frame of a call that has been noted; null: in none
};

// All that is thread-local: the calling thread's, null where it has none. __thread, unlike thread_local,
// promises the compiler that it needs no call.
extern __thread ThreadState* own_thread_state;
extern std::byte nobodys_thread_state[];  // zeros

// The calling thread's: valid, and perhaps not begun, from the thread's first instruction.
inline ThreadState& this_thread() noexcept {
  ThreadState* const own = own_thread_state;
  return own != nullptr ? *own : *reinterpret_cast<ThreadState*>(nobodys_thread_state);
}

}  // namespace nvmemu::preload
