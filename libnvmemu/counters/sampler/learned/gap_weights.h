// SPDX-License-Identifier: Apache-2.0
// The slowdown after an injection, and what it does to the counts.
//
// While a delay is spun, neighbours evict the program's lines and page-table entries from the shared caches;
// after it, loads take longer for some 10 to 50 ms. That is real waiting, but the emulation's doing: charged
// in full it is multiplied by target / base - 1 and overshoots. Probes see it: here what misses take, by time
// since the last injection, is compared with what they take in the steady state, and how many there are with
// how many there were; samples soon after a gap are weighed down accordingly. Measured on a 2-vCPU guest: a
// chase over 512 MiB at 200 ns a load takes 357 ns right after a gap of 50 ms, 303 after 0.5 ms, 253 after 8
// ms; probes read 314 falling to 222.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "counters/sampler/learned/load_table.h"

namespace nvmemu {

class GapWeights {
 public:
  // Bins of CPU time since the gap, in ms: [0, 1), [1, 2), [2, 4), ... [32, infinity).
  static constexpr std::size_t kBins = 7;
  static std::size_t bin_of(double since_gap_ms);
  static double bin_start_ms(std::size_t bin);
  static bool is_steady(double since_gap_ms) { return bin_of(since_gap_ms) == kBins - 1; }

  // What probes of a miss read until they have been made: from the calibration. Before all else.
  void expect(double miss_ns) noexcept { expected_ns_ = miss_ns; }

  // A natural burst's readings, and what that load's are in the steady state. Async-signal-safe, any thread.
  void add(double since_gap_ms, const ProbeSums& sums, const UsualReadings& usual) noexcept;

  // What probes of a miss read in the steady state, ns, on average over the process.
  double steady_ns() const noexcept;
  // How many readings that rests on.
  double steady_misses() const noexcept;

  // What a sample in that bin counts, relative to one in the steady state: less than 1 while misses take
  // longer than they would, or while there are more of them. What has not been probed enough counts as in the
  // steady state.
  double weight(std::size_t bin) const noexcept;

 private:
  struct Bin {
    std::atomic<double> from_memory{0}, memory_ns{0};  // readings from memory: how many, and their time,
    std::atomic<double> usual_ns{0};                   // and the same in the steady state
    std::atomic<double> misses{0}, usual_misses{0};    // likewise, of loads whose steady share is known
  };

  std::array<Bin, kBins> bins_{};
  double expected_ns_ = 200;
};

}  // namespace nvmemu
