// SPDX-License-Identifier: Apache-2.0
// How the emulation of a thread begins and ends: by itself, by another thread, and in the child of a fork.
#include "base/clock.h"
#include "foreign_threads.h"
#include "keep_errno.h"
#include "runtime.h"
#include "thread_area.h"
#include "thread_pointers.h"
#include "thread_state.h"
#include "thread_work.h"

namespace nvmemu::preload {

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
  const std::uint64_t begin_ns = thread_cpu_ns();
  line_.claim_anew(tid_);
  const int error = open(tid_, Runtime::get().ticker(), false);
  Runtime::get().note_ticker(error, error == 0 && source_->uses_perf_event());
  if (error != 0 || !carries()) return;
  emulator().carry(Runtime::get().board().carried());
  emulator().note_cost(static_cast<double>(thread_cpu_ns() - begin_ns));
}

// What is replayed is what there is.
bool ThreadState::carries() noexcept { return Runtime::get().replay() == nullptr; }

// It goes on as the program has it: what it owes still, or has overpaid, is others' from now on.
void ThreadState::end_here() noexcept {
  const KeepErrno keep;
  const std::uint64_t begin_ns = thread_cpu_ns();
  CarriedTime& carried = Runtime::get().board().carried();
  if (carries()) emulator().leave(carried);
  publish();
  line_.note_user_time();
  line_.end(tid_);
  source_->close();
  ready_.store(false, std::memory_order_relaxed);
  remove_thread_pointer();
  if (carries()) carried.leave(-static_cast<double>(thread_cpu_ns() - begin_ns), Runtime::get().epoch_ns());
}

void ThreadState::end_for_good() {
  ThreadState* const state = own_thread_state;
  if (state == nullptr) return;
  state->end();
  remove_known_thread(state->tid_);
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
  device_waits_ns_.store(0, std::memory_order_relaxed);
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
    end_here();
  });
}

void ThreadState::abandon() noexcept {
  if (!ready_.load(std::memory_order_relaxed)) return;
  source_->abandon();
  ready_.store(false, std::memory_order_relaxed);
}

}  // namespace nvmemu::preload
