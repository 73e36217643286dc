// SPDX-License-Identifier: Apache-2.0
#include "thread_state.h"

#include <sys/syscall.h>

#include "base/log.h"
#include "base/persist_lines.h"
#include "base/program_counter.h"
#include "base/raw_syscall.h"
#include "foreign_threads.h"
#include "keep_errno.h"
#include "kept_signals.h"
#include "runtime.h"
#include "thread_area.h"
#include "thread_pointers.h"

namespace nvmemu::preload {

__thread ThreadState* own_thread_state = nullptr;
alignas(ThreadState) std::byte nobodys_thread_state[sizeof(ThreadState)];

int current_tid() noexcept { return static_cast<int>(raw_syscall(SYS_gettid)); }

namespace {

// All of the program's signals are blocked while it lives: on its threads outside of handlers.
class Quiet {
 public:
  Quiet() noexcept : programs_(set_signal_mask(kAllButForced)) {}
  ~Quiet() { set_signal_mask(programs_); }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;
  SignalMask programs() const noexcept { return programs_; }

 private:
  ThreadState::AtWork at_work_;
  SignalMask programs_;
};

}  // namespace

// Not inlined: its frame is gone before the wait, which is on the program's stack.
template <typename Work>
[[gnu::noinline]] bool ThreadState::work(Work work) noexcept {
  if (stack_.run(work)) return true;
  // Whatever it was amid stays as it is; nothing but the ticker, which lies apart, is touched any more.
  ready_.store(false, std::memory_order_relaxed);
  Runtime::get().warn(kEmulatorFailed);
  stack_.run([this] { source_->close(); });
  return false;
}

// The program's handlers may interrupt the wait and never come back to it, by a jump, an exception or the
// thread's end: what they leave is settled by whoever comes next. Ticks are not let in: their frame might not
// fit below this one, and they would have nothing to do.
[[gnu::noinline]] void ThreadState::wait(SignalMask programs_mask) {
  set_signal_mask(programs_mask | mask_of(kTickSignal));
  emulator().wait();
  set_signal_mask(kAllButForced);
  if (ready_.load(std::memory_order_relaxed)) work([this] { settle(); });
}

// Whether what is due then is to be waited for. Not inlined either, for the same reason.
template <typename Book>
[[gnu::noinline]] bool ThreadState::is_due_after(const Book& book) {
  bool waits = false;
  const auto book_and_see = [&] {
    settle();
    const KeepErrno keep;
    if (!book()) return;
    waits = emulator().must_wait();
    if (!waits) settle();
  };
  return work(book_and_see) && waits;
}

template <typename Book>
void ThreadState::pay(SignalMask programs_mask, const Book& book) {
  if (is_due_after(book)) wait(programs_mask);
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

bool ThreadState::begin() noexcept {
  if (!Runtime::get().active() || begins_no_more_.load(std::memory_order_relaxed)) return false;
  if (this_thread().ready_.load(std::memory_order_relaxed)) return false;
  if (own_thread_state == nullptr)
    own_thread_state = static_cast<ThreadState*>(take_thread_area(sizeof(ThreadState)));
  if (own_thread_state == nullptr || !add_thread_pointer()) {
    Runtime::get().warn(kThreadsNotEmulated);
    return false;
  }
  own_thread_state->stack_.set(own_thread_state);
  const Quiet quiet;
  return own_thread_state->work([] { own_thread_state->begin_here(); }) && own_thread_state->is_mine();
}

void ThreadState::begin_here() noexcept {
  const KeepErrno keep;
  tid_ = current_tid();
  add_known_thread(tid_);
  line_.claim_anew(tid_);
  const int error = open(tid_, Runtime::get().ticker(), false);
  Runtime::get().note_ticker(error, error == 0 && source_->uses_perf_event());
}

void ThreadState::end_for_good() {
  ThreadState* const state = own_thread_state;
  if (state == nullptr) return;
  state->end();
  own_thread_state = nullptr;
  give_back_thread_area(state, sizeof(ThreadState));
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
    const BoardThread* const slot = foreign ? nullptr : line_.slot();
    return *new (replay_)
        ReplaySource(*source_, slot != nullptr ? replay->of_thread(runtime.board().index_of(slot))
                                               : std::span<const EpochCounts>());
  }
  return *source_;
}

// With the counters where they are to be used, and else, or where they are refused, with the sampler. 0, or
// what refused the last.
int ThreadState::open(int tid, TickerKind ticker, bool foreign) noexcept {
  Runtime& runtime = Runtime::get();
  tid_ = tid;
  line_.begin();
  if (const PmuSourceOptions* options = runtime.pmu_options()) {
    const int error = open_source(*new (pmu_) PmuSource(*options), ticker, foreign);
    if (error == 0) return 0;
    runtime.warn(kCountersRefused);
    if (!runtime.may_sample_instead()) return error;
  }
  runtime.note_sampler();
  return open_source(*new (sampler_) Sampler(runtime.shared(), runtime.clock(), runtime.sampler_options()),
                     ticker, foreign);
}

int ThreadState::open_source(ThreadSource& source, TickerKind ticker, bool foreign) noexcept {
  Runtime& runtime = Runtime::get();
  source_ = &source;
  new (emulator_) ThreadEmulator(told_source(foreign), runtime.injector(), runtime.read_latency(),
                                 runtime.epoch_ns(), runtime.model().delay_ns, runtime.governor());
  if (runtime.alternate_ns() > 0) emulator().alternate(runtime.board().alternation(), runtime.alternate_ns());
  ready_.store(true, std::memory_order_release);  // a tick may come as soon as the ticker is open
  const int error = source.open(tid_, ticker);
  if (error != 0) ready_.store(false, std::memory_order_relaxed);
  return error;
}

ThreadState* ThreadState::begin_foreign(int tid) noexcept {
  if (!Runtime::get().active() || begins_no_more_.load(std::memory_order_relaxed)) return nullptr;
  if (Runtime::get().ticker() == TickerKind::kTimer) return nullptr;  // is the calling thread's only
  auto* const state = static_cast<ThreadState*>(take_thread_area(sizeof(ThreadState)));
  if (state == nullptr) return nullptr;
  state->stack_.set(state);
  if (state->open(tid, TickerKind::kPerfEvent, true) == 0) return state;
  give_back_thread_area(state, sizeof(ThreadState));
  return nullptr;
}

// A thread that never computes as much as a tick's worth is not worth a line in the report: it may just be
// ending.
void ThreadState::on_foreign_tick(const ucontext_t& context) {
  if (work([this] { line_.claim(tid_); })) on_tick(context);
}

void ThreadState::end_foreign() {
  const Quiet quiet;
  if (!work([this] { line_.claim(tid_); })) return;
  pay(quiet.programs(), [this] { return emulator().book_last_epoch(), true; });
}

void ThreadState::forget() noexcept {
  if (ready_.load(std::memory_order_relaxed)) {
    publish();
    line_.end(tid_);
    source_->close();
    ready_.store(false, std::memory_order_relaxed);
  }
  give_back_thread_area(this, sizeof(ThreadState));
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

void ThreadState::note_device_wait(double spun_ns) noexcept {
  if (is_at_work() || !is_mine()) return;
  const Quiet quiet;
  emulator().note_device_wait(spun_ns);
}

void ThreadState::end_wait() noexcept {
  if (is_ready() && !emulator().is_booked()) emulator().begin_interval();
}

void ThreadState::end_epoch() {
  if (!is_mine()) return;
  const Quiet quiet;
  pay(quiet.programs(), [this] { return emulator().book_last_epoch(), true; });
}

void ThreadState::end() {
  if (!is_mine()) return;
  const Quiet quiet;
  end(quiet.programs());
}

void ThreadState::end(SignalMask programs_mask) {
  if (!is_mine()) return;
  // Where the thread ends from within a delay (the program's handler called exit), its epoch is accounted
  // already.
  if (!emulator().is_booked()) {
    pay(programs_mask, [this] { return emulator().book_last_epoch(), true; });
    while (ready_.load(std::memory_order_relaxed) && emulator().has_more())
      pay(programs_mask, [this] { return emulator().book_epoch(), true; });
  }
  if (!ready_.load(std::memory_order_relaxed)) return;
  work([this] {
    settle();
    const KeepErrno keep;
    publish();
    line_.note_user_time();
    line_.end(tid_);
    source_->close();
    ready_.store(false, std::memory_order_relaxed);
    remove_thread_pointer();
    remove_known_thread(tid_);
  });
}

void ThreadState::abandon() noexcept {
  if (!ready_.load(std::memory_order_relaxed)) return;
  source_->abandon();
  ready_.store(false, std::memory_order_relaxed);
}

}  // namespace nvmemu::preload
