// SPDX-License-Identifier: Apache-2.0
#include "measure/access_loop.h"

#include <sys/syscall.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/clock.h"
#include "base/raw_syscall.h"
#include "nvmemu/nvmemu.h"

namespace nvmemu::pmbench {
namespace {

// Under the emulator: no delay is injected between the two.
struct NotNow {
  NotNow() noexcept { nvmemu_not_now(); }
  ~NotNow() { nvmemu_now(); }
  NotNow(const NotNow&) = delete;
  NotNow& operator=(const NotNow&) = delete;
};

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
  const std::uint64_t words = std::uint64_t{1} << (settings_.page_shift - 2);
  const std::uint64_t writes_from = settings_.read_percent;
  Rng rng = rng_;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t random = rng.next();
    const std::uint64_t any_word = (random & 0xffffffff) * words >> 32;
    const std::uint64_t word = settings_.word < 0 ? any_word : static_cast<std::uint64_t>(settings_.word);
    const Place write = (random >> 32) * 100 >> 32 >= writes_from ? kWrite : 0;
    places_[i] = (pages_[i] << settings_.page_shift) + word * 4 + write;
  }
  rng_ = rng;
}

// Ticks between the stamps, their own cost included.
template <typename Timer>
[[gnu::always_inline]] inline std::uint64_t AccessLoop::access(Place place) {
  auto* const word = reinterpret_cast<volatile std::uint32_t*>(settings_.memory + (place & ~kWrite));
  const NotNow not_now;
  Stamp begin;
  Stamp end;
  if ((place & kWrite) == 0) {
    begin = Timer::begin();
    static_cast<void>(*word);
    end = Timer::end();
  } else if (!settings_.write_needs_read) {
    begin = Timer::begin();
    *word = static_cast<std::uint32_t>(place);
    Timer::drain();
    end = Timer::end();
  } else {
    begin = Timer::begin();
    *word = *word + 1;
    Timer::drain();
    end = Timer::end();
  }
  if constexpr (Timer::kTellsCpu) {
    if (end.cpu != cpu_) [[unlikely]] {
      ++migrations_;
      cpu_ = end.cpu;
    }
  }
  return end.ticks - begin.ticks;
}

template <typename Timer>
[[gnu::noinline]] std::uint64_t AccessLoop::access_classed(Place place) {
  const bool resident = is_resident(settings_.memory + (place & ~kWrite));
  const FaultCounts before = thread_faults();
  const std::uint64_t ticks = access<Timer>(place);
  const auto what = static_cast<std::size_t>(class_of(before, thread_faults()));
  resident_[what] += resident ? 1 : 0;
  LatencyCounts& seen = classes_[what];
  const std::uint64_t ns = net_ns(place, ticks);
  ++seen.counts[Buckets::index(ns)];
  seen.sum_ns += ns;
  seen.min_ns = seen.count == 0 ? ns : std::min(seen.min_ns, ns);
  seen.max_ns = std::max(seen.max_ns, ns);
  ++seen.count;
  return ticks;
}

template <typename Timer>
void AccessLoop::pause() const noexcept {
  const std::uint64_t start = Timer::end().ticks;
  while (Timer::end().ticks - start < settings_.delay_ticks &&
         control_->load(std::memory_order_relaxed) != kStop) {
  }
}

// Returns how many were made before the control word changed.
template <typename Timer>
std::size_t AccessLoop::access_batch(std::size_t count, std::uint32_t phase) {
  for (std::size_t i = 0; i < count; ++i) {
    if (control_->load(std::memory_order_relaxed) != phase) [[unlikely]]
      return i;
    const bool classed = budget_.next();
    const std::uint64_t ticks = classed ? access_classed<Timer>(places_[i]) : access<Timer>(places_[i]);
    ticks_[i] = ticks;
    if (ticks > settings_.threshold_ticks) [[unlikely]]
      mark_trace(ticks);
    if (settings_.delay_ticks > 0) pause<Timer>();
  }
  return count;
}

// Less what two stamps take with nothing between.
std::uint64_t AccessLoop::net_ns(Place place, std::uint64_t ticks) const noexcept {
  const std::uint64_t cost = (place & kWrite) != 0 ? settings_.cost.write_ticks : settings_.cost.read_ticks;
  return scale_.to_ns(ticks > cost ? ticks - cost : 0);
}

// Without a branch on what kind an access was, which nobody could predict: `writes` is all ones for a write.
void AccessLoop::record(std::size_t count) noexcept {
  const std::uint64_t read_cost = settings_.cost.read_ticks;
  const std::uint64_t more_for_writes = settings_.cost.write_ticks - read_cost;
  const TickScale scale = scale_;
  std::uint64_t sums[2] = {0, 0};
  std::uint64_t least[2] = {~std::uint64_t{0}, ~std::uint64_t{0}};
  std::uint64_t most[2] = {0, 0};
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t writes = ~(places_[i] & kWrite) + 1;
    const std::uint64_t cost = read_cost + (more_for_writes & writes);
    const std::uint64_t ns = scale.to_ns(ticks_[i] > cost ? ticks_[i] - cost : 0);
    sums[0] += ns & ~writes;
    sums[1] += ns & writes;
    least[0] = std::min(least[0], ns | writes);
    least[1] = std::min(least[1], ns | ~writes);
    most[0] = std::max(most[0], ns & ~writes);
    most[1] = std::max(most[1], ns & writes);
    histograms_[writes & 1].count(ns);
  }
  for (std::size_t kind = 0; kind < 2; ++kind) histograms_[kind].sum_up(sums[kind], least[kind], most[kind]);
}

template <typename Timer, bool kRecord>
std::uint64_t AccessLoop::run_with(Pattern& pattern, std::uint32_t phase, std::uint64_t most) {
  const FaultCounts faults_before = thread_faults();
  cpu_ = Timer::end().cpu;
  std::uint64_t made = 0;
  std::uint64_t batch_ticks = 0;
  std::size_t recorded = 0;  // of the last batch, those still to be recorded
  bool going = true;
  while (going) {
    if constexpr (kRecord) {
      if (settings_.classify) budget_.begin(batch_ticks);
    }
    const bool watched = kRecord && budget_.classed() > 0 && batches_ % kWatchEvery == 0;
    const FaultCounts own_before = watched ? thread_faults() : FaultCounts{};
    if constexpr (kRecord) {
      if (settings_.record) record(recorded);
    }
    const std::size_t count = std::min<std::uint64_t>(kBatch, most - made);
    draw(pattern, count);
    if (watched) {
      const FaultCounts own_after = thread_faults();
      own_faults_ += own_after.minor + own_after.major - own_before.minor - own_before.major;
      ++watched_;
    }
    const std::uint64_t start = Timer::end().ticks;
    const std::size_t done = access_batch<Timer>(count, phase);
    batch_ticks = Timer::end().ticks - start;
    made += done;
    ++batches_;
    recorded = done;
    if constexpr (kRecord)
      accesses_.store(accesses_.load(std::memory_order_relaxed) + done, std::memory_order_relaxed);
    going = done == count && made < most;
  }
  if constexpr (kRecord) {
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
