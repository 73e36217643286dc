// SPDX-License-Identifier: Apache-2.0
#include "thread_state.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstring>

#include "base/raw_syscall.h"
#include "foreign_threads.h"
#include "keep_errno.h"
#include "runtime.h"
#include "thread_pointers.h"

namespace nvmemu::preload {
namespace {

static_assert(std::is_trivially_default_constructible_v<std::byte>);

// Writes "/proc/self/task/TID/comm". printf and its kind are not for signal handlers.
void name_path(char* out, int tid) {
  constexpr char kBefore[] = "/proc/self/task/";
  constexpr char kAfter[] = "/comm";
  char* at = std::copy_n(kBefore, sizeof kBefore - 1, out);
  char* first = at;
  for (; tid > 0; tid /= 10) *at++ = static_cast<char>('0' + tid % 10);
  std::reverse(first, at);
  std::copy_n(kAfter, sizeof kAfter, at);
}

// By system calls: open(), read() and close() are cancellation points, and this is not the program's doing.
void read_thread_name(int tid, char* name, std::size_t capacity) {
  char path[48];
  name_path(path, tid);
  const long fd = raw_syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
  if (is_error(fd)) return;
  const long length = raw_syscall(SYS_read, fd, name, capacity - 1);
  raw_syscall(SYS_close, fd);
  if (length > 0) name[name[length - 1] == '\n' ? length - 1 : length] = '\0';
}

std::uint64_t whole(double ns) { return ns > 0 ? static_cast<std::uint64_t>(ns) : 0; }

}  // namespace

alignas(ThreadState) __thread std::byte thread_state_storage[sizeof(ThreadState)]{};

int current_tid() noexcept { return static_cast<int>(raw_syscall(SYS_gettid)); }

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
  if (!Runtime::get().active() || ready_.load(std::memory_order_relaxed)) return false;
  if (!add_thread_pointer()) return false;
  tid_ = current_tid();
  add_known_thread(tid_);
  has_claimed_ = false;  // in the child of a fork, the parent had
  claim_slot();
  const int error = open(tid_, Runtime::get().ticker(), false);
  Runtime::get().note_ticker(error, error == 0 && source_->uses_perf_event());
  return error == 0;
}

// What the emulator is told: what the source counts, unless that is kept, too, or replaced.
CounterSource& ThreadState::told_source(bool foreign) noexcept {
  Runtime& runtime = Runtime::get();
  if (RecordWriter* record = runtime.record()) {
    const ThreadPlace place{runtime.process_number(), record->add_thread(foreign),
                            static_cast<std::uint32_t>(tid_)};
    return *new (recording_) RecordingSource(*source_, *record, place);
  }
  if (const Replay* replay = runtime.replay()) {
    const bool numbered = !foreign && slot_ != nullptr;
    return *new (replay_) ReplaySource(*source_, numbered ? replay->of_thread(runtime.board().index_of(slot_))
                                                          : std::span<const EpochCounts>());
  }
  return *source_;
}

// With the counters where they are to be used, and else, or where they are refused, with the sampler. 0, or
// what refused the last.
int ThreadState::open(int tid, TickerKind ticker, bool foreign) noexcept {
  Runtime& runtime = Runtime::get();
  tid_ = tid;
  published_ = {};
  published_held_ns_ = 0;
  published_until_ns_ = runtime.injector().now_ns();
  if (const PmuSourceOptions* options = runtime.pmu_options()) {
    const int error = open_source(*new (pmu_) PmuSource(*options), ticker, foreign);
    if (error == 0) return 0;
    runtime.warn(kCountersRefused);
    if (!runtime.may_sample_instead()) return error;
  }
  return open_source(*new (sampler_) Sampler(runtime.shared(), runtime.clock(), runtime.sampler_options()),
                     ticker, foreign);
}

int ThreadState::open_source(ThreadSource& source, TickerKind ticker, bool foreign) noexcept {
  Runtime& runtime = Runtime::get();
  source_ = &source;
  new (emulator_) ThreadEmulator(told_source(foreign), runtime.injector(), runtime.read_latency(),
                                 runtime.epoch_ns(), runtime.model().delay_ns, runtime.governor());
  busy_frame_.store(nullptr, std::memory_order_relaxed);
  ready_.store(true, std::memory_order_release);  // a tick may come as soon as the ticker is open
  const int error = source.open(tid_, ticker);
  if (error != 0) ready_.store(false, std::memory_order_relaxed);
  return error;
}

void ThreadState::claim_slot() noexcept {
  if (has_claimed_) return;
  has_claimed_ = true;
  slot_ = Runtime::get().claim_thread(static_cast<std::uint32_t>(tid_));
  if (slot_ != nullptr) read_thread_name(tid_, slot_->name, sizeof slot_->name);
}

bool ThreadState::begin_foreign(int tid) noexcept {
  if (!Runtime::get().active()) return false;
  if (Runtime::get().ticker() == TickerKind::kTimer) return false;  // is the calling thread's only
  return open(tid, TickerKind::kPerfEvent, true) == 0;
}

// A thread that never computes as much as a tick's worth is not worth a line in the report: it may just be
// ending.
void ThreadState::on_foreign_tick(const ucontext_t& context) noexcept {
  claim_slot();
  on_tick(context);
}

void ThreadState::end_foreign() noexcept {
  claim_slot();
  const Busy busy(*this);
  if (busy.entered()) emulator().end();
}

void ThreadState::forget() noexcept {
  publish(true);
  source_->close();
  ready_.store(false, std::memory_order_relaxed);
}

bool ThreadState::is_mine() const noexcept {
  return ready_.load(std::memory_order_relaxed) && tid_ == current_tid();
}

void ThreadState::publish(bool ended) noexcept {
  publish_traffic();
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
  slot_->misses.store(totals.misses, kRelaxed);
  slot_->drifted_misses.store(totals.drifted_misses, kRelaxed);
  slot_->counted_ns.store(whole(totals.counted_ns), kRelaxed);
  slot_->variance_ns2.store(totals.stall_variance_ns2(), kRelaxed);
  if (ended) {
    read_thread_name(tid_, slot_->name, sizeof slot_->name);  // the program has given it one by now
    slot_->ended.store(1, std::memory_order_release);
  }
  Runtime::get().note_probes();
  if (source_->has_lost_counts())
    Runtime::get().warn(source_->counted() == kSamplerCounts ? kSamplesLost : kCountsLost);
}

// By difference: the board has the sum of all threads, whether they still are or not.
void ThreadState::publish_traffic() noexcept {
  Runtime& runtime = Runtime::get();
  if (!runtime.measures_traffic()) return;
  const TrafficCounts& traffic = emulator().totals().traffic;
  const double held_ns = emulator().totals().held_ns;
  TrafficBoard& board = runtime.board().traffic();
  const auto add = [](std::atomic<std::uint64_t>& sum, auto now, auto before) {
    sum.fetch_add(static_cast<std::uint64_t>(now) - static_cast<std::uint64_t>(before),
                  std::memory_order_relaxed);
  };
  add(board.read_bytes, traffic.read_bytes, published_.read_bytes);
  add(board.written_bytes, traffic.written_bytes, published_.written_bytes);
  add(board.extrapolated_bytes, traffic.extrapolated_bytes, published_.extrapolated_bytes);
  add(board.samples, traffic.samples, published_.samples);
  add(board.streaming_samples, traffic.streaming_samples, published_.streaming_samples);
  add(board.pairs, traffic.pairs, published_.pairs);
  add(board.held_ns, held_ns, published_held_ns_);
  const std::uint64_t now_ns = runtime.injector().now_ns();
  board.series.add({published_until_ns_, now_ns, traffic.read_bytes - published_.read_bytes,
                    traffic.written_bytes - published_.written_bytes, held_ns - published_held_ns_},
                   board.start_ns);
  published_ = traffic;
  published_held_ns_ = held_ns;
  published_until_ns_ = now_ns;
}

void ThreadState::on_tick(const ucontext_t& context) noexcept {
  if (!is_mine()) return;
  const Busy busy(*this);
  if (!busy.entered()) return;
  source_->on_tick(context);
  find_foreign_threads();
  if (source_->epoch_ns() < Runtime::get().epoch_ns()) return;
  if (held_.load(std::memory_order_relaxed)) {
    postponed_.store(true, std::memory_order_relaxed);
    return;
  }
  emulator().end_epoch();
  publish(false);
}

// A tick that comes once busy does nothing, and one before that may have ended the epoch already.
void ThreadState::end_postponed_epoch() noexcept {
  if (!is_mine()) return;
  const Busy busy(*this);
  if (!busy.entered()) return;
  const KeepErrno keep;
  postponed_.store(false, std::memory_order_relaxed);
  emulator().end_epoch();
  publish(false);
}

bool ThreadState::on_trap(const siginfo_t& info, const ucontext_t& context) noexcept {
  if (ready_.load(std::memory_order_relaxed) && source_->on_trap(info, context)) return true;
  return Prober::owns(info);
}

void ThreadState::check_edge(const void* site) noexcept {
  const Runtime& runtime = Runtime::get();
  if (!edges_.is_due(runtime.clock().now_ticks(), runtime.edge_interval_ticks())) return;
  pay_at_edge(site);
  edges_.paid(runtime.clock().now_ticks());
}

void ThreadState::pay_at_edge(const void* site) noexcept {
  if (!is_mine() || held_.load(std::memory_order_relaxed)) return;
  const Busy busy(*this);
  if (!busy.entered()) return;
  const KeepErrno keep;
  if (emulator().reach_edge(reinterpret_cast<std::uintptr_t>(site))) publish(false);
  find_foreign_threads();
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
  if (busy.entered()) emulator().end();
  publish(true);
  source_->close();  // while traps still find their way
  ready_.store(false, std::memory_order_relaxed);
  remove_thread_pointer();
  remove_known_thread(tid_);
}

void ThreadState::abandon() noexcept {
  if (!ready_.load(std::memory_order_relaxed)) return;
  source_->abandon();
  ready_.store(false, std::memory_order_relaxed);
}

}  // namespace nvmemu::preload
