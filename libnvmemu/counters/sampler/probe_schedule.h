// SPDX-License-Identifier: Apache-2.0
// When to probe: within a share of the CPU time, and spread over the time since the last injection, so that
// GapWeights learns each of its bins. Pure arithmetic; async-signal-safe.
#pragma once

#include <cstdint>

namespace nvmemu {

// What a burst of probes is to find out.
enum class BurstKind : std::uint8_t {
  kShare,    // whether the load's lines are in a cache
  kNatural,  // how long the load takes as things are, translation included: see GapWeights
};

class ProbeSchedule {
 public:
  // `budget`: the share of CPU time, and of injected time (from which their cost is taken), that bursts may
  // cost, 0 to 1; 0: never.
  // `steady_after_ms`: how long after a gap the steady state begins.
  ProbeSchedule(double budget, double steady_after_ms, std::uint64_t seed);

  void on_time(double cpu_ns) noexcept;    // the thread ran that long
  void on_gap(double gap_ns) noexcept;     // a delay was injected: the time since the gap starts again
  void on_burst(double cost_ns) noexcept;  // a burst has ended
  bool due() const noexcept;               // a burst should begin now
  void on_armed() noexcept;                // one has begun

  // Soon after a gap lines are missing from the caches that the program would have there without it: shares
  // are asked for in the steady state only, in turn with natural bursts; and before the first gap nothing
  // else.
  BurstKind next_kind() const noexcept;

  double since_gap_ms() const noexcept { return since_gap_ms_; }

 private:
  std::uint64_t next_random() noexcept;

  double budget_;
  double steady_after_ms_;
  double credit_ns_;
  double since_gap_ms_;
  double next_ms_;  // since the gap
  std::uint64_t random_;
  bool gaps_seen_ = false;
  bool natural_next_ = false;
};

}  // namespace nvmemu
