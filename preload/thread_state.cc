// SPDX-License-Identifier: Apache-2.0
#include "thread_state.h"

#include <sys/syscall.h>

#include "base/persist_lines.h"
#include "base/program_counter.h"
#include "base/raw_syscall.h"
#include "foreign_threads.h"
#include "keep_errno.h"
#include "kept_signals.h"
#include "runtime.h"
#include "thread_work.h"

namespace nvmemu::preload {

__thread ThreadState* own_thread_state = nullptr;
alignas(ThreadState) std::byte nobodys_thread_state[sizeof(ThreadState)];

int current_tid() noexcept { return static_cast<int>(raw_syscall(SYS_gettid)); }

// The program's handlers may interrupt the wait and never come back to it, by a jump, an exception or the
// thread's end: what they leave is settled by whoever comes next. Ticks are not let in: their frame might not
// fit below this one, and they would have nothing to do.
[[gnu::noinline]] void ThreadState::wait(SignalMask programs_mask) {
  set_signal_mask(programs_mask | mask_of(kTickSignal));
  emulator().wait();
  set_signal_mask(kAllButForced);
  if (ready_.load(std::memory_order_relaxed)) work([this] { settle(); });
}

// Nothing restores the mask of a handler that is left so, unless the program does. A tick that has waited for
// it comes at once, and must not wait in its turn: the next jump out of that would come upon one more, and so
// on down the stack.
void ThreadState::leave_wait() noexcept {
  if (!is_ready() || !emulator().is_booked() || !is_mine()) return;  // most jumps: nothing to ask the kernel
  const SignalMask mask = set_signal_mask(kAllButForced);
  work([this] { settle(); });
  AtWork::left_by_jump();
  leaving_since_ticks_.store(Runtime::get().clock().now_ticks(), std::memory_order_relaxed);
  set_signal_mask(mask & ~mask_of(kTickSignal));
  leaving_since_ticks_.store(0, std::memory_order_relaxed);
}

// For a moment only: a handler of the program's may come between, too, and leave it for good.
bool ThreadState::is_leaving() const noexcept {
  constexpr double kMomentNs = 2e6;
  const std::uint64_t since = leaving_since_ticks_.load(std::memory_order_relaxed);
  return since != 0 && Runtime::get().clock().ns_since(since) < kMomentNs;
}

void ThreadState::settle() noexcept {
  if (!emulator().is_booked()) return;
  const KeepErrno keep;
  if (emulator().settle()) publish();
}

// Whether the tick came in the wait, and not in a handler of the program's that interrupts it or after a jump
// out of it.
bool ThreadState::is_waiting_at(const ucontext_t& context) const noexcept {
  const SamplerOptions& options = Runtime::get().sampler_options();
  const std::uintptr_t pc = program_counter(context);
  return options.own_code_begin <= pc && pc < options.own_code_end;
}

bool ThreadState::is_mine() const noexcept { return is_ready() && tid_ == current_tid(); }

void ThreadState::publish() noexcept {
  line_.publish(emulator());
  if (source_->has_lost_counts())
    Runtime::get().warn(source_->counted() == kSamplerCounts ? kSamplesLost : kCountsLost);
}

void ThreadState::on_tick(const ucontext_t& context) {
  if (!is_mine() || (emulator().is_booked() && is_waiting_at(context))) return;
  pay(mask_of(context.uc_sigmask), [&] {
    source_->on_tick(context);
    find_foreign_threads();
    if (is_leaving()) return false;
    if (Runtime& runtime = Runtime::get(); runtime.first_touch().is_due())
      runtime.first_touch().divide(runtime.placement());
    Runtime::get().look_at_memory();
    if (source_->epoch_ns() < Runtime::get().epoch_ns() && !emulator().was_cut_short()) return false;
    if (held_.load(std::memory_order_relaxed)) {
      postponed_.store(true, std::memory_order_relaxed);
      return false;
    }
    Runtime::get().migrate(emulator());
    emulator().book_epoch();
    return true;
  });
}

void ThreadState::end_postponed_epoch() {
  if (!is_mine()) return;
  const Quiet quiet;
  postponed_.store(false, std::memory_order_relaxed);
  pay(quiet.programs(), [this] { return emulator().book_epoch(), true; });
}

void ThreadState::check_edge(const void* site) {
  const Runtime& runtime = Runtime::get();
  if (!edges_.is_due(runtime.clock().now_ticks(), runtime.edge_interval_ticks())) return;
  pay_at_edge(site);
  edges_.paid(runtime.clock().now_ticks());
}

// What the emulator itself calls amid its work, to say something, is no edge of the program's.
void ThreadState::pay_at_edge(const void* site) {
  if (stack_.in_use() || !is_mine() || held_.load(std::memory_order_relaxed)) return;
  const Quiet quiet;
  pay(quiet.programs(), [&] {
    emulator().book_edge(reinterpret_cast<std::uintptr_t>(site));
    find_foreign_threads();
    return true;
  });
}

void ThreadState::note_flush(const void* address, std::size_t bytes) noexcept {
  if (!is_ready()) return;
  const TierId tier = Runtime::get().placement().tier_of(address);
  flushed_[tier].add(address, bytes, Runtime::get().persist_target(tier).block_bytes);
}

void ThreadState::note_drain() noexcept {
  if (!is_ready()) return;
  for (std::size_t tier = 0; tier < kMostTiers; ++tier) {
    if (flushed_[tier].empty()) continue;
    emulator().persist(flushed_[tier].take(), Runtime::get().persist_target(static_cast<TierId>(tier)));
  }
}

void ThreadState::note_durable() noexcept {
  if (is_ready()) emulator().wait_until_durable();
}

// How much has changed only the kernel knows: a line at least.
void ThreadState::note_file_flush(TierId tier) noexcept {
  if (is_ready()) emulator().persist({.lines = 1, .blocks = 1}, Runtime::get().persist_target(tier));
}

// Amid an injection it is a part of that: all CPU time is, until what is due is spent.
void ThreadState::note_device_wait(std::uint64_t spun_ns) noexcept {
  if (is_ready() && !(emulator().is_booked() && emulator().must_wait()))
    device_waits_ns_.fetch_add(spun_ns, std::memory_order_relaxed);
}

void ThreadState::tell_device_waits() noexcept {
  if (device_waits_ns_.load(std::memory_order_relaxed) == 0) return;
  emulator().note_device_wait(static_cast<double>(device_waits_ns_.exchange(0, std::memory_order_relaxed)));
}

void ThreadState::end_wait() noexcept {
  if (!is_ready() || emulator().is_booked()) return;
  if (device_waits_ns_.load(std::memory_order_relaxed) != 0) {
    const Quiet quiet;
    tell_device_waits();
  }
  emulator().begin_interval();
}

void ThreadState::end_epoch() {
  if (!is_mine()) return;
  const Quiet quiet;
  pay(quiet.programs(), [this] { return emulator().book_last_epoch(), true; });
}

}  // namespace nvmemu::preload
