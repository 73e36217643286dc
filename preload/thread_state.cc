// SPDX-License-Identifier: Apache-2.0
#include "thread_state.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "keep_errno.h"
#include "runtime.h"
#include "thread_pointers.h"

namespace nvmemu::preload {
namespace {

static_assert(std::is_trivially_default_constructible_v<std::byte>);

int current_tid() { return static_cast<int>(syscall(SYS_gettid)); }

void read_thread_name(char* name, std::size_t capacity) {
  // By system call: open(), read() and close() are cancellation points, and this is not the program's doing.
  const long fd = syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/comm", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  const long length = syscall(SYS_read, fd, name, capacity - 1);
  syscall(SYS_close, fd);
  if (length > 0) name[name[length - 1] == '\n' ? length - 1 : length] = '\0';
}

std::uint64_t whole(double ns) { return ns > 0 ? static_cast<std::uint64_t>(ns) : 0; }

}  // namespace

alignas(ThreadState) __thread std::byte thread_state_storage[sizeof(ThreadState)]{};

class ThreadState::Busy {
 public:
  explicit Busy(ThreadState& state) : state_(state) {
    const void* frame = __builtin_frame_address(0);
    const void* marked = state.busy_frame_.load(std::memory_order_relaxed);
    // The stack grows down: a live mark lies above whatever interrupted it, or on another (alternate) stack,
    // which cannot be told from a stale one by address alone and counts as live.
    entered_ = marked == nullptr || marked < frame;
    if (entered_) state.busy_frame_.store(frame, std::memory_order_relaxed);
  }
  ~Busy() {
    if (entered_) state_.busy_frame_.store(nullptr, std::memory_order_relaxed);
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
  bool entered() const { return entered_; }

 private:
  ThreadState& state_;
  bool entered_;
};

bool ThreadState::begin() noexcept {
  Runtime& runtime = Runtime::get();
  if (!runtime.active() || ready_.load(std::memory_order_relaxed)) return false;
  if (!add_thread_pointer()) return false;
  tid_ = current_tid();
  slot_ = runtime.claim_thread(static_cast<std::uint32_t>(tid_));
  if (slot_ != nullptr) read_thread_name(slot_->name, sizeof slot_->name);
  new (sampler_) Sampler(runtime.shared(), runtime.clock(), runtime.sampler_options());
  new (emulator_) ThreadEmulator(sampler(), runtime.injector(), runtime.read_latency(), runtime.epoch_ns());
  busy_frame_.store(nullptr, std::memory_order_relaxed);
  ready_.store(true, std::memory_order_release);  // a tick may come as soon as the ticker is open
  const int error = sampler().open(tid_);
  if (error != 0) ready_.store(false, std::memory_order_relaxed);
  runtime.note_ticker(error, sampler().uses_perf_event());
  return error == 0;
}

bool ThreadState::is_mine() const noexcept {
  return ready_.load(std::memory_order_relaxed) && tid_ == current_tid();
}

void ThreadState::publish(bool ended) noexcept {
  if (slot_ == nullptr) return;
  constexpr auto kRelaxed = std::memory_order_relaxed;
  const EpochTotals& totals = emulator().totals();
  slot_->epochs.store(totals.epochs, kRelaxed);
  slot_->cpu_ns.store(whole(totals.cpu_ns), kRelaxed);
  slot_->stall_ns.store(whole(totals.stall_ns), kRelaxed);
  slot_->delay_ns.store(whole(totals.delay_ns), kRelaxed);
  slot_->injected_ns.store(whole(totals.injected_ns), kRelaxed);
  slot_->overhead_ns.store(whole(totals.overhead_ns), kRelaxed);
  slot_->unpaid_ns.store(static_cast<std::int64_t>(emulator().unpaid_ns()), kRelaxed);
  slot_->samples.store(totals.samples, kRelaxed);
  slot_->stall_samples.store(totals.stall_samples, kRelaxed);
  slot_->probes.store(totals.probes, kRelaxed);
  slot_->variance_ns2.store(totals.stall_variance_ns2(), kRelaxed);
  if (ended) {
    read_thread_name(slot_->name, sizeof slot_->name);  // the program has given it one by now
    slot_->ended.store(1, std::memory_order_release);
  }
  Runtime::get().note_probes();
  if (sampler().lost_samples()) Runtime::get().warn(kSamplesLost);
}

void ThreadState::on_tick(const ucontext_t& context) noexcept {
  if (!ready_.load(std::memory_order_relaxed)) return;
  const Busy busy(*this);
  if (!busy.entered()) return;
  sampler().on_tick(context);
  if (sampler().epoch_ns() < Runtime::get().epoch_ns()) return;
  emulator().end_epoch();
  publish(false);
}

bool ThreadState::on_trap(const siginfo_t& info, const ucontext_t& context) noexcept {
  if (!ready_.load(std::memory_order_relaxed)) return Prober::owns(info);
  return sampler().on_trap(info, context);
}

// Reading the clock costs more than all else here: where edges follow one another closely, some are let pass
// unseen, but never so many that a whole interval could.
void ThreadState::check_edge(const void* site) noexcept {
  constexpr int kMostSkips = 8;
  const Runtime& runtime = Runtime::get();
  const std::uint64_t now = runtime.clock().now_ticks();
  const std::uint64_t interval = runtime.edge_interval_ticks();
  if (now - last_edge_ticks_ < interval) {
    const std::uint64_t gap = (now - last_check_ticks_) / static_cast<std::uint64_t>(edges_skipped_ + 1) + 1;
    edges_skipped_ = static_cast<int>(std::min<std::uint64_t>(kMostSkips, interval / 8 / gap));
    edge_skips_ = edges_skipped_;
    last_check_ticks_ = now;
    return;
  }
  pay_at_edge(site);
  last_edge_ticks_ = last_check_ticks_ = runtime.clock().now_ticks();
  edges_skipped_ = 0;
}

void ThreadState::pay_at_edge(const void* site) noexcept {
  if (!is_mine()) return;
  const Busy busy(*this);
  if (!busy.entered()) return;
  const KeepErrno keep;
  if (emulator().reach_edge(reinterpret_cast<std::uintptr_t>(site))) publish(false);
}

void ThreadState::end_wait() noexcept {
  if (!ready_.load(std::memory_order_relaxed)) return;
  const Busy busy(*this);
  if (busy.entered()) emulator().begin_interval();
}

void ThreadState::end_epoch() noexcept {
  if (!is_mine()) return;
  const Busy busy(*this);
  if (!busy.entered()) return;
  emulator().finish();
  publish(false);
}

void ThreadState::end() noexcept {
  if (!is_mine()) return;
  const Busy busy(*this);
  // Where the thread ends from within a delay (the program's handler called exit), its epoch is accounted
  // already.
  if (busy.entered()) emulator().finish();
  publish(true);
  sampler().close();  // while traps still find their way
  ready_.store(false, std::memory_order_relaxed);
  remove_thread_pointer();
}

void ThreadState::abandon() noexcept {
  if (!ready_.load(std::memory_order_relaxed)) return;
  sampler().abandon();
  ready_.store(false, std::memory_order_relaxed);
}

}  // namespace nvmemu::preload
