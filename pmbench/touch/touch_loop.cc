// SPDX-License-Identifier: Apache-2.0
#include "touch/touch_loop.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "measure/batch.h"
#include "measure/residency.h"
#include "measure/timed_write.h"
#include "memory/locked.h"

namespace nvmemu::pmbench {
namespace {

constexpr std::size_t kBatch = 64;
constexpr std::size_t kSlowestKept = 16;
constexpr std::uint64_t kSamples = 512;  // of memory, in a run

std::uint64_t thread_cpu_ns() noexcept {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

// Histograms of each class, and the slowest; its memory is locked before there is pressure.
class TouchRecord {
 public:
  TouchRecord() {
    lock(this, sizeof *this);
    slowest_.reserve(kSlowestKept + 1);
  }
  ~TouchRecord() { unlock(this, sizeof *this); }
  TouchRecord(const TouchRecord&) = delete;
  TouchRecord& operator=(const TouchRecord&) = delete;

  void add(TouchClass touch_class, std::uint64_t index, std::uint64_t ns) noexcept {
    histograms_[static_cast<std::size_t>(touch_class)].add(ns);
    if (touch_class == TouchClass::kFast) return;
    if (slowest_.size() == kSlowestKept && ns <= slowest_.back().ns) return;
    const SlowTouch touch{index, ns, touch_class};
    slowest_.insert(std::ranges::upper_bound(slowest_, touch.ns, std::greater<>(), &SlowTouch::ns), touch);
    if (slowest_.size() > kSlowestKept) slowest_.pop_back();
  }
  void write_to(TouchRun& run) const {
    for (std::size_t i = 0; i < kTouchClasses; ++i) run.classes[i] = histograms_[i].counts();
    run.slowest = slowest_;
  }

 private:
  std::array<HistogramPage, kTouchClasses> pages_;
  std::array<Histogram, kTouchClasses> histograms_{Histogram(pages_[0]), Histogram(pages_[1]),
                                                   Histogram(pages_[2]), Histogram(pages_[3])};
  std::vector<SlowTouch> slowest_;
};

// What is known of the thread at some time.
struct Look {
  FaultCounts counts;
  std::uint64_t cpu_ns = 0, ticks = 0;
};

template <typename Timer>
class TouchLoop {
 public:
  TouchLoop(const TouchLoopRequest& request, TouchRecord& record)
      : request_(request),
        record_(record),
        scale_(request.timer.hz),
        slow_ticks_(static_cast<std::uint64_t>(static_cast<double>(kSlowTouchNs) * request.timer.hz / 1e9)) {}

  // A batch; its pages are drawn.
  void touch(const std::array<std::uint64_t, kBatch>& pages, std::size_t count,
             std::uint64_t first) noexcept {
    Look last = look();
    for (std::size_t i = 0; i < count; ++i) {
      const Stamps stamps = timed_write<Timer>(request_.memory + pages[i] * kTouchPageBytes);
      const std::uint64_t ticks = ticks_beyond(request_.timer.cost.write_ticks, stamps.ticks());
      TouchClass touch_class = TouchClass::kFast;
      // What happened between two touches is not to be taken for the next slow one's.
      const std::uint64_t between_ticks = stamps.begin.ticks - last_end_;
      if (between_ticks > slow_ticks_) between_ticks_ += between_ticks;
      if (ticks > slow_ticks_ || between_ticks > slow_ticks_) {
        const Look now = look();
        if (ticks > slow_ticks_) touch_class = class_of_slow(last, now, scale_.to_ns(ticks));
        last = now;
      }
      record_.add(touch_class, first + i, scale_.to_ns(ticks));
      last_end_ = Timer::end().ticks;
    }
  }
  // What was done since the last touch, if any, is not the loop's.
  void go_on() noexcept { last_end_ = Timer::end().ticks; }
  double between_ns() const noexcept { return static_cast<double>(scale_.to_ns(between_ticks_)); }

 private:
  static Look look() noexcept { return {thread_faults(), thread_cpu_ns(), Timer::end().ticks}; }

  // A touch that takes long is preempted more likely, and is slow all the same: it is another task's time
  // only where the thread was off the processor for half of it.
  TouchClass class_of_slow(const Look& before, const Look& after, std::uint64_t touch_ns) const noexcept {
    const std::uint64_t wall_ns = scale_.to_ns(after.ticks - before.ticks);
    const bool was_off = wall_ns > after.cpu_ns - before.cpu_ns + touch_ns / 2;
    if (was_off && after.counts.preemptions != before.counts.preemptions) return TouchClass::kPreempted;
    return after.counts.major != before.counts.major ? TouchClass::kMajorFault : TouchClass::kSlow;
  }

  const TouchLoopRequest& request_;
  TouchRecord& record_;
  TickScale scale_;
  std::uint64_t slow_ticks_;
  std::uint64_t last_end_ = Timer::end().ticks, between_ticks_ = 0;
};

}  // namespace

TouchRun touch_pages(const TouchLoopRequest& request, Pattern& order, MemoryWatch& watch,
                     const std::atomic<bool>& stop) {
  TouchRun run;
  const auto record = std::make_unique<TouchRecord>();
  const std::uint64_t sample_every = std::max<std::uint64_t>(request.touches / kSamples / kBatch, 1) * kBatch;
  run.rss.reserve(request.touches / sample_every + 2);
  touch_stack();
  std::uint64_t sampling_ns = 0;
  const FaultCounts before = thread_faults();
  const std::uint64_t cpu_before_ns = thread_cpu_ns();
  const std::uint64_t begin_ns = monotonic_raw_ns();
  with_timer(request.timer.kind, Fence::kLoad, [&]<typename Timer>() {
    TouchLoop<Timer> loop(request, *record);
    std::array<std::uint64_t, kBatch> pages;
    while (run.touches < request.touches && !stop.load(std::memory_order_relaxed)) {
      const auto count =
          static_cast<std::size_t>(std::min<std::uint64_t>(kBatch, request.touches - run.touches));
      order.draw({pages.data(), count});
      loop.touch(pages, count, run.touches);
      run.touches += count;
      if (run.touches % sample_every != 0 && run.touches != request.touches) continue;
      const std::uint64_t sample_begin_ns = monotonic_raw_ns();
      const MemoryWatch::Sample sample = watch.sample();
      run.rss.push_back({run.touches, sample.rss_bytes});
      sampling_ns += monotonic_raw_ns() - sample_begin_ns;
      loop.go_on();
      run.was_short_of_swap = sample.swap_free_bytes < request.least_swap_free_bytes;
      if (run.was_short_of_swap) break;
    }
    run.between_ns = loop.between_ns();
  });
  run.loop_ns = static_cast<double>(monotonic_raw_ns() - begin_ns - sampling_ns);
  run.cpu_ns = static_cast<double>(thread_cpu_ns() - cpu_before_ns);
  const FaultCounts after = thread_faults();
  run.minor_faults = after.minor - before.minor;
  run.major_faults = after.major - before.major;
  run.preemptions = after.preemptions - before.preemptions;
  record->write_to(run);
  return run;
}

}  // namespace nvmemu::pmbench
