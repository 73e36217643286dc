// SPDX-License-Identifier: Apache-2.0
// The timed loop of one thread. Pages are drawn a batch at a time, then accessed one by one, each between two
// time stamps, then recorded: so that drawing and recording are never between two stamps, and the processor
// can overlap them with each other, which the fences around an access prevent.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "measure/batch.h"
#include "measure/histogram.h"
#include "measure/residency.h"
#include "measure/timer.h"
#include "measure/timestamp.h"
#include "pattern/pattern.h"
#include "pattern/rng.h"
#include "run/result.h"

namespace nvmemu::pmbench {

// The same for all threads of a run.
struct LoopSettings {
  std::byte* memory = nullptr;
  unsigned page_shift = 12;  // pages of the pattern, which may be larger than the system's
  unsigned read_percent = 50;
  int word = -1;  // of a page, the 4-byte word to access; -1: any
  bool write_needs_read = false;
  bool record = true;
  bool classify = true;
  std::uint64_t delay_ticks = 0;  // between accesses, of the time-stamp counter where there is one
  std::uint64_t threshold_ticks =
      ~std::uint64_t{0};  // an access that takes longer is marked in the kernel's trace
  int trace_marker = -1;  // the file to which that is written
  TimestampKind timestamp = TimestampKind::kPerfCounter;
  Fence fence = Fence::kLoad;
  TimerCost cost;
  double hz = 1e9;
  std::uint64_t seed = 1;
};

// What the loop runs by, set by others: the number of the phase, or kStop. An access ends, then it is looked
// at.
using LoopControl = std::atomic<std::uint32_t>;
inline constexpr std::uint32_t kStop = ~std::uint32_t{0};

// All of it is memory that the loop touches; to be made in locked memory.
class AccessLoop {
 public:
  static constexpr std::size_t kBatch = 64;
  static_assert(kBatch % 2 == 0);

  AccessLoop(const LoopSettings& settings, const LoopControl& control, unsigned thread);

  // Accesses until `control` is not `phase`, or `most` accesses are made. Returns how many.
  std::uint64_t run(Pattern& pattern, std::uint32_t phase, std::uint64_t most);
  // The same without recording anything.
  std::uint64_t warm_up(Pattern& pattern, std::uint32_t phase, std::uint64_t most);

  // ns that drawing a page takes: of `pattern`, which draws some thousands.
  double measure_drawing_ns(Pattern& pattern);

  // By other threads at any time: accesses recorded so far, and how many of each bucket, modulo 2^32.
  std::uint64_t accesses() const noexcept { return accesses_.load(std::memory_order_relaxed); }
  void add_counters(std::array<std::uint32_t, Buckets::kCount>& sums) const noexcept;

  // After the loop: accesses, histograms, classes, faults, migrations.
  void report(ThreadResult& result) const;

 private:
  static constexpr std::uint64_t kWatchEvery = 16;  // batches, for faults of the loop's own

  template <typename Timer, bool kRecord>
  std::uint64_t run_with(Pattern& pattern, std::uint32_t phase, std::uint64_t most);
  template <typename Timer, bool kClass>
  std::size_t access_batch(std::size_t count, std::uint32_t phase);
  template <typename Timer>
  static Stamps access(std::byte* memory, bool write_needs_read, Place place);
  template <typename Timer>
  Stamps access_classed(Place place);
  void draw(Pattern& pattern, std::size_t count) noexcept;
  void record(std::size_t count) noexcept;
  void tell(std::size_t done) noexcept;
  void record_and_draw(Pattern& pattern) noexcept;
  std::uint64_t net_ns(Place place, std::uint64_t ticks) const noexcept;
  void mark_trace(std::uint64_t ticks) const noexcept;
  template <typename Timer>
  void pause() const noexcept;

  LoopSettings settings_;
  const LoopControl* control_;
  TickScale scale_;
  Rng rng_;
  ClassBudget budget_;
  std::uint64_t last_ticks_ = 0;   // the last stamp
  std::uint64_t class_ticks_ = 0;  // that classing took in the last batch
  std::uint32_t cpu_ = 0;          // where the last stamp was taken
  std::uint64_t migrations_ = 0;
  std::atomic<std::uint64_t> accesses_{0};
  std::size_t untold_ = 0;        // of these, to the emulator
  FaultCounts faults_;            // in the runs so far
  std::uint64_t own_faults_ = 0;  // seen in the batches whose drawing and recording was watched
  std::uint64_t batches_ = 0, watched_ = 0;

  std::array<std::uint64_t, kBatch> pages_{};
  std::array<Place, kBatch> places_;
  std::array<std::uint64_t, kBatch> ticks_;

  std::array<HistogramPage, 2> counters_{};  // of reads, of writes
  std::array<Histogram, 2> histograms_{Histogram(counters_[0]), Histogram(counters_[1])};
  std::array<LatencyCounts, kAccessClasses> classes_{};
  std::array<std::uint64_t, kAccessClasses>
      resident_{};  // of the classed, those whose page was in memory before
};

}  // namespace nvmemu::pmbench
