// SPDX-License-Identifier: Apache-2.0
// What is on the board of a run's traffic: the buckets that limit it, its sums, and how it went over time.
// Plain data in a mapped file, written by any thread of any process: wait-free, async-signal-safe. A process
// that is killed leaves what it has written.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "epoch/governor.h"
#include "tier/tier.h"

namespace nvmemu {

// A stretch of one thread's time, and what it moved in it. Times of CLOCK_MONOTONIC_RAW, ns.
struct TrafficStretch {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  double read_bytes = 0;
  double written_bytes = 0;
  double held_ns = 0;  // of it, in which the governor made the thread wait
};

// Traffic by time, as fine as room allows: the same is kept at four resolutions, each of as many steps, and
// read at the finest that reaches to the end of the run.
class TrafficSeries {
 public:
  static constexpr std::array<std::uint64_t, 4> kStepsNs = {100'000'000, 1'000'000'000, 10'000'000'000,
                                                            100'000'000'000};  // the last for 28 hours
  static constexpr std::size_t kSteps = 1024;

  // Spreads it evenly over the steps that it lies in. `start_ns`: when the run began.
  void add(const TrafficStretch& stretch, std::uint64_t start_ns) noexcept;

  struct Step {
    double read_bytes = 0;
    double written_bytes = 0;
    double held_ns = 0;  // over all threads
  };
  struct OverTime {
    double step_seconds = 0;
    std::vector<Step> steps;  // up to the last one with anything in it
  };
  OverTime read() const;

 private:
  struct Slot {
    std::atomic<std::uint64_t> read_bytes, written_bytes, held_ns;
  };
  using Level = std::array<Slot, kSteps>;

  void add_to(Level& level, std::uint64_t step_ns, const TrafficStretch& stretch,
              std::uint64_t start_ns) noexcept;

  std::array<Level, kStepsNs.size()> levels_;
};

struct TrafficBoard {
  std::uint64_t start_ns;        // when the board was made
  ByTier<BusyUntil> busy_until;  // of the governor's buckets: of all memory, and by tier
  std::atomic<std::uint64_t> read_bytes, written_bytes, extrapolated_bytes;
  std::atomic<std::uint64_t> samples, streaming_samples, pairs;  // as in TrafficCounts
  std::atomic<std::uint64_t> held_ns;
  TrafficSeries series;
};

}  // namespace nvmemu
