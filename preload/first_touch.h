// SPDX-License-Identifier: Apache-2.0
// The rule after=SIZE: as a kernel fills the nearer memory first, what a process has touched up to that size
// is where it would be, and all that it touches from then on is in the tier.
#pragma once

#include <atomic>
#include <cstdint>

#include "placement.h"
#include "resident_peak.h"

namespace nvmemu::preload {

class FirstTouch {
 public:
  void open(const TierPlan& plan) noexcept;

  // Whether the process has as much memory now, which is looked at every tick. Async-signal-safe, as all
  // here.
  bool is_due() noexcept {
    return __builtin_expect(tier_ != 0, 0) && !is_over_.load(std::memory_order_relaxed) && is_reached();
  }
  bool is_over() const noexcept { return is_over_.load(std::memory_order_relaxed); }
  // What is touched stays; the rest is the tier's. Milliseconds for each GiB, once in a process.
  void divide(Placement& placement) noexcept;

 private:
  bool is_reached() const noexcept { return peak_.bytes() >= bytes_; }

  ResidentPeak peak_;
  TierId tier_ = 0;
  std::uint64_t bytes_ = 0;
  std::atomic<bool> is_over_{false};
};

}  // namespace nvmemu::preload
