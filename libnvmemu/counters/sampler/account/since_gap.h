// SPDX-License-Identifier: Apache-2.0
// How long ago a delay has held a thread up: for a while after one, what neighbours have evicted meanwhile is
// still missing from the caches. Pure arithmetic; async-signal-safe.
#pragma once

namespace nvmemu {

class SinceGap {
 public:
  void on_time(double cpu_ns) noexcept;            // the thread ran that long
  void on_injection(double injected_ns) noexcept;  // a delay was injected

  // CPU time since the last injection that was long enough for neighbours to evict what the program had in
  // the caches: a gap. Shorter ones that come thick and fast count as one that lies as far back as makes the
  // program as slow.
  double ms() const noexcept;

 private:
  static constexpr double kNeverMs = 64;  // a thread that has not been delayed yet is in the steady state

  double since_gap_ms_ = kNeverMs;
  double recent_ms_ = 0;  // of short injections, those long past forgotten
};

}  // namespace nvmemu
