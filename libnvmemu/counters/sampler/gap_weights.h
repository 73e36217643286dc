// SPDX-License-Identifier: Apache-2.0
// The slowdown after an injection, and what it does to the counts.
//
// While a delay is spun, neighbours evict the program's lines and page-table entries from the shared caches;
// after it, loads take longer for some 10 to 50 ms. That is real waiting, but the emulation's doing: charged
// in full it is multiplied by target / base - 1 and overshoots. Probes see it: here the readings of each
// load, by time since the last injection, are compared with that load's mean, and samples soon after a gap
// are weighed down accordingly. Measured on a 2-vCPU guest: a chase over 512 MiB at 200 ns a load takes 357
// ns right after a gap of 50 ms, 303 after 0.5 ms, 253 after 8 ms; probes read 314 falling to 222.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

namespace nvmemu {

class GapWeights {
 public:
  // Bins of CPU time since the gap, in ms: [0, 1), [1, 2), [2, 4), ... [32, infinity).
  static constexpr std::size_t kBins = 7;
  static std::size_t bin_of(double since_gap_ms);
  static double bin_start_ms(std::size_t bin);
  static bool is_steady(double since_gap_ms) { return bin_of(since_gap_ms) == kBins - 1; }

  // A burst of probes of one load: the mean memory time of a reading, and that load's own mean in the steady
  // state, both in ns. Ignored where that is not known (0). Async-signal-safe, any thread.
  void add(double since_gap_ms, double burst_mean_ns, double load_mean_ns, double readings) noexcept;

  // The readings of a burst in the steady state that came from memory: their sum, and how many.
  void add_steady(double memory_ns, double readings) noexcept;
  // The mean of those in the steady state, drawn towards `expected_ns` while they are few.
  double steady_ns(double expected_ns) const noexcept;

  // What a sample in that bin counts, relative to one in the steady state: 1, or less while slowed.
  double weight(std::size_t bin) const noexcept;

 private:
  struct Bin {
    std::atomic<double> ratio_sum{0};  // burst mean / load mean, times readings
    std::atomic<double> readings{0};
  };
  double ratio(std::size_t bin) const noexcept;
  std::array<Bin, kBins> bins_{};
  std::atomic<double> steady_sum_ns_{0}, steady_readings_{0};
};

}  // namespace nvmemu
