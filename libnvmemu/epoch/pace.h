// SPDX-License-Identifier: Apache-2.0
// How a thread pays where others wait for it. Pure arithmetic, async-signal-safe, one thread.
//
// Between two edges (a lock taken and given back, say) lie microseconds, and sampling tells of a stall only
// every millisecond: paid as it is measured, one interval in dozens would stand still for milliseconds and
// the others not at all. Where threads take turns only the sum counts; but where they meet, at a barrier,
// each would wait for every other's lump. So what is measured at an edge is spread over the intervals that
// end there: each pays its CPU time times the delay that such intervals have been found to owe per ns. What
// that pays too little or too much stands in the ledger, and is evened out over a window of CPU time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace nvmemu {

class Pace {
 public:
  // `window_ns`: CPU time after which what was measured is half forgotten. The ledger's balance is paid over
  // five of them.
  explicit Pace(double window_ns) : window_ns_(window_ns) {}

  struct Interval {
    double cpu_ns = 0;    // how long the thread ran its own code
    double delay_ns = 0;  // what was measured in it, less overhead other than the following
    double interrupted_ns =
        0;  // how long measuring kept the thread from running: others have waited for that already
  };

  // An interval ended at the edge `site` (any number that tells edges apart, not 0); what was measured in it
  // is in `balance_ns`, what the ledger says is owed. Returns what to pay now, >= 0.
  double due_ns(std::uintptr_t site, const Interval& interval, double balance_ns) noexcept;

 private:
  struct Place {
    std::uintptr_t site = 0;
    double cpu_ns = 0;
    double delay_ns = 0;

    void add(double cpu, double delay, double window_ns) noexcept;
    // ns of delay per ns, drawn towards `usual` while little is known.
    double rate(double usual) const noexcept;
  };
  static constexpr std::size_t kPlaces = 32;  // edges told apart; the others share what is usual

  Place* place_of(std::uintptr_t site) noexcept;

  double window_ns_;
  Place all_;
  std::array<Place, kPlaces> places_{};
};

}  // namespace nvmemu
