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

  void on_time(double cpu_ns) noexcept;            // the thread ran that long
  void on_injection(double injected_ns) noexcept;  // a delay was injected
  void on_burst(double cost_ns) noexcept;          // a burst has ended
  // A burst should begin now. Where it would be of a load that little is `unknown` of, the reserve may be
  // spent.
  bool due(bool unknown) const noexcept;
  void on_armed() noexcept;  // one has begun

  // Soon after a gap lines are missing from the caches that the program would have there without it: shares
  // are asked for in the steady state, in turn with natural bursts, and elsewhere only where that is not to
  // be had for long.
  BurstKind next_kind() const noexcept;

  // An injection long enough for neighbours to evict what the program had in the caches: a gap. After it the
  // time since the gap starts again.
  static bool is_gap(double injected_ns) noexcept;

  // CPU time since the last gap. Shorter injections that come thick and fast count as one that lies as far
  // back as makes the program as slow.
  double since_gap_ms() const noexcept;

 private:
  std::uint64_t next_random() noexcept;

  double budget_;
  double steady_after_ms_;
  double credit_ns_;
  double since_gap_ms_;
  double recent_ms_ = 0;  // of short injections, those long past forgotten
  double next_ms_;        // since the gap
  std::uint64_t random_;
  bool natural_next_ = false;
  int naturals_ = 0;  // in a row
};

}  // namespace nvmemu
