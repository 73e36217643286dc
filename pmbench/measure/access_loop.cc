// SPDX-License-Identifier: Apache-2.0
#include "measure/access_loop.h"

#include <sys/syscall.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "base/clock.h"
#include "base/raw_syscall.h"
#include "measure/not_now.h"

namespace nvmemu::pmbench {
namespace {

std::uint64_t class_cost_ticks(const LoopSettings& settings) {
  return settings.classify
             ? static_cast<std::uint64_t>(measure_class_cost_ns(settings.memory) * settings.hz / 1e9)
             : 1;
}

}  // namespace

AccessLoop::AccessLoop(const LoopSettings& settings, const LoopControl& control, unsigned thread)
    : settings_(settings),
      control_(&control),
      scale_(settings.hz),
      rng_(split_mix(settings_.seed), thread),  // apart from the patterns'
      budget_(class_cost_ticks(settings), kBatch) {}

void AccessLoop::draw(Pattern& pattern, std::size_t count) noexcept {
  pattern.draw({pages_.data(), count});
  const Placer place(settings_.page_shift, settings_.word, settings_.read_percent);
  Rng rng = rng_;
  for (std::size_t i = 0; i < count; i += 2) {  // kBatch is even
    const std::uint64_t random = rng.next();
    places_[i] = place(pages_[i], random & 0xffffffff);
    places_[i + 1] = place(pages_[i + 1], random >> 32);
  }
  rng_ = rng;
}

void AccessLoop::record(std::size_t count) noexcept {
  Recorder record_one(histograms_, scale_, settings_.cost);
  for (std::size_t i = 0; i < count; ++i) record_one(places_[i], ticks_[i]);
  record_one.finish();
}

// record() and draw() of a whole batch in one, so that the processor can overlap the two: accesses that take
// as long as each other are counted one after another.
void AccessLoop::record_and_draw(Pattern& pattern) noexcept {
  pattern.draw(pages_);
  const Placer place(settings_.page_shift, settings_.word, settings_.read_percent);
  Recorder record_one(histograms_, scale_, settings_.cost);
  Rng rng = rng_;
  for (std::size_t i = 0; i < kBatch; i += 2) {
    const std::uint64_t random = rng.next();
    record_one(places_[i], ticks_[i]);
    places_[i] = place(pages_[i], random & 0xffffffff);
    record_one(places_[i + 1], ticks_[i + 1]);
    places_[i + 1] = place(pages_[i + 1], random >> 32);
  }
  rng_ = rng;
  record_one.finish();
}

// Ticks between the stamps, their own cost included.
// Threads that share the map race, and may: atomic says so, and costs nothing.
template <typename Timer>
[[gnu::always_inline]] inline Stamps AccessLoop::access(std::byte* memory, bool write_needs_read,
                                                        Place place) {
  auto* const word = reinterpret_cast<volatile std::uint32_t*>(memory + (place & ~kWrite));
  const NotNow not_now;
  Stamps stamps;
  if ((place & kWrite) == 0) {
    stamps.begin = Timer::begin();
    static_cast<void>(__atomic_load_n(word, __ATOMIC_RELAXED));
    stamps.end = Timer::end();
  } else if (!write_needs_read) {
    stamps.begin = Timer::begin();
    __atomic_store_n(word, static_cast<std::uint32_t>(place), __ATOMIC_RELAXED);
    Timer::drain();
    stamps.end = Timer::end();
  } else {
    stamps.begin = Timer::begin();
    __atomic_store_n(word, __atomic_load_n(word, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
    Timer::drain();
    stamps.end = Timer::end();
  }
  return stamps;
}

// Charged to the budget with what it really took beyond the access.
template <typename Timer>
[[gnu::noinline]] Stamps AccessLoop::access_classed(Place place) {
  const std::uint64_t start = Timer::end().ticks;
  const bool resident = is_resident(settings_.memory + (place & ~kWrite));
  const FaultCounts before = thread_faults();
  const Stamps stamps = access<Timer>(settings_.memory, settings_.write_needs_read, place);
  const auto what = static_cast<std::size_t>(class_of(before, thread_faults()));
  resident_[what] += resident ? 1 : 0;
  LatencyCounts& seen = classes_[what];
  const std::uint64_t ns = net_ns(place, stamps.ticks());
  ++seen.counts[Buckets::index(ns)];
  seen.sum_ns += ns;
  seen.min_ns = seen.count == 0 ? ns : std::min(seen.min_ns, ns);
  seen.max_ns = std::max(seen.max_ns, ns);
  ++seen.count;
  class_ticks_ += Timer::end().ticks - start - stamps.ticks();
  return stamps;
}

template <typename Timer>
void AccessLoop::pause() const noexcept {
  const std::uint64_t start = Timer::end().ticks;
  while (Timer::end().ticks - start < settings_.delay_ticks &&
         control_->load(std::memory_order_relaxed) != kStop) {
  }
}

// Returns how many were made before the control word changed. What is needed for each access is in local
// variables: the fences make the compiler read members again after each.
template <typename Timer, bool kClass>
std::size_t AccessLoop::access_batch(std::size_t count, std::uint32_t phase) {
  std::byte* const memory = settings_.memory;
  const LoopControl* const control = control_;
  const std::uint64_t threshold_ticks = settings_.threshold_ticks;
  const bool write_needs_read = settings_.write_needs_read;
  const bool pauses = settings_.delay_ticks > 0;
  ClassBudget budget = budget_;
  std::uint32_t cpu = cpu_;
  std::uint64_t last_ticks = last_ticks_;
  std::size_t i = 0;
  for (; i < count && control->load(std::memory_order_relaxed) == phase; ++i) {
    const Place place = places_[i];
    Stamps stamps;
    if (kClass && budget.next()) [[unlikely]]
      stamps = access_classed<Timer>(place);
    else
      stamps = access<Timer>(memory, write_needs_read, place);
    const std::uint64_t ticks = stamps.ticks();
    ticks_[i] = ticks;
    last_ticks = stamps.end.ticks;
    if constexpr (Timer::kTellsCpu) {
      if (stamps.end.cpu != cpu) [[unlikely]] {
        ++migrations_;
        cpu = stamps.end.cpu;
      }
    }
    if (ticks > threshold_ticks) [[unlikely]]
      mark_trace(ticks);
    if (pauses) [[unlikely]]
      pause<Timer>();
  }
  cpu_ = cpu;
  last_ticks_ = last_ticks;
  budget_ = budget;
  return i;
}

// To this process's other threads at once; to the emulator, whose count all threads of a run share, seldom.
void AccessLoop::tell(std::size_t done) noexcept {
  constexpr std::size_t kSeldom = 64 * kBatch;
  accesses_.store(accesses_.load(std::memory_order_relaxed) + done, std::memory_order_relaxed);
  untold_ += done;
  if (untold_ >= kSeldom) nvmemu_done(std::exchange(untold_, 0));
}

// Less what two stamps take with nothing between.
std::uint64_t AccessLoop::net_ns(Place place, std::uint64_t ticks) const noexcept {
  const std::uint64_t cost = (place & kWrite) != 0 ? settings_.cost.write_ticks : settings_.cost.read_ticks;
  return scale_.to_ns(ticks_beyond(cost, ticks));
}

template <typename Timer, bool kRecord>
std::uint64_t AccessLoop::run_with(Pattern& pattern, std::uint32_t phase, std::uint64_t most) {
  const FaultCounts faults_before = thread_faults();
  const Stamp first = Timer::end();
  cpu_ = first.cpu;
  last_ticks_ = first.ticks;
  std::uint64_t made = 0;
  std::uint64_t batch_end_ticks = last_ticks_;  // of the batch before
  std::size_t recorded = 0;                     // of the last batch, those still to be recorded
  bool going = true;
  while (going) {
    if constexpr (kRecord) {
      if (settings_.classify) {
        budget_.begin(last_ticks_ - batch_end_ticks, std::exchange(class_ticks_, 0));
        batch_end_ticks = last_ticks_;
      }
    }
    const bool classing = kRecord && budget_.classed() > 0;
    const bool watched = classing && batches_ % kWatchEvery == 0;
    const FaultCounts own_before = watched ? thread_faults() : FaultCounts{};
    const std::size_t count = std::min<std::uint64_t>(kBatch, most - made);
    if (kRecord && settings_.record && recorded == kBatch && count == kBatch) {
      record_and_draw(pattern);
    } else {
      if (kRecord && settings_.record) record(recorded);
      draw(pattern, count);
    }
    if (watched) {
      const FaultCounts own_after = thread_faults();
      own_faults_ += own_after.minor + own_after.major - own_before.minor - own_before.major;
      ++watched_;
    }
    const std::size_t done =
        classing ? access_batch<Timer, true>(count, phase) : access_batch<Timer, false>(count, phase);
    made += done;
    ++batches_;
    recorded = done;
    if constexpr (kRecord) tell(done);
    going = done == count && made < most;
  }
  if constexpr (kRecord) {
    nvmemu_done(std::exchange(untold_, 0));
    if (settings_.record) record(recorded);
    const FaultCounts faults_after = thread_faults();
    faults_.minor += faults_after.minor - faults_before.minor;
    faults_.major += faults_after.major - faults_before.major;
  }
  return made;
}

std::uint64_t AccessLoop::run(Pattern& pattern, std::uint32_t phase, std::uint64_t most) {
  if (most == 0) return 0;
  return with_timer(settings_.timestamp, settings_.fence,
                    [&]<typename Timer>() { return run_with<Timer, true>(pattern, phase, most); });
}

std::uint64_t AccessLoop::warm_up(Pattern& pattern, std::uint32_t phase, std::uint64_t most) {
  if (most == 0) return 0;
  const std::uint64_t made = with_timer(settings_.timestamp, settings_.fence, [&]<typename Timer>() {
    return run_with<Timer, false>(pattern, phase, most);
  });
  migrations_ = batches_ = 0;
  return made;
}

double AccessLoop::measure_drawing_ns(Pattern& pattern) {
  constexpr int kBatches = 256;
  for (int i = 0; i < kBatches; ++i) draw(pattern, kBatch);
  const std::uint64_t start_ns = monotonic_raw_ns();
  for (int i = 0; i < kBatches; ++i) draw(pattern, kBatch);
  return static_cast<double>(monotonic_raw_ns() - start_ns) / (kBatches * kBatch);
}

// "pmbench: an access took 123456 ns", as the kernel's trace shows it between its own events.
void AccessLoop::mark_trace(std::uint64_t ticks) const noexcept {
  constexpr char kBefore[] = "pmbench: an access took ";
  constexpr char kAfter[] = " ns\n";
  char text[80];
  char* at = std::copy_n(kBefore, sizeof kBefore - 1, text);
  at = std::to_chars(at, std::end(text) - sizeof kAfter, scale_.to_ns(ticks)).ptr;
  at = std::copy_n(kAfter, sizeof kAfter - 1, at);
  raw_syscall(SYS_write, settings_.trace_marker, text, static_cast<std::size_t>(at - text));
}

void AccessLoop::add_counters(std::array<std::uint32_t, Buckets::kCount>& sums) const noexcept {
  for (const HistogramPage& page : counters_) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += page.counters[i].load(std::memory_order_relaxed);
  }
}

void AccessLoop::report(ThreadResult& result) const {
  result.accesses = accesses();
  result.reads = histograms_[0].counts();
  result.writes = histograms_[1].counts();
  result.classes = classes_;
  result.classed_resident = resident_;
  result.minor_faults = faults_.minor;
  result.major_faults = faults_.major;
  result.own_faults = watched_ == 0 ? 0 : own_faults_ * batches_ / watched_;
  result.migrations = migrations_;
}

}  // namespace nvmemu::pmbench
