// SPDX-License-Identifier: Apache-2.0
// Time that threads leave, when they end, to those that begin after them: what each for itself is too short
// to account for. Of all processes of a run; zeros are a valid state. Wait-free, async-signal-safe.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/relaxed.h"

namespace nvmemu {

class CarriedTime {
 public:
  // What is more than `bound_ns`, either way, is forgotten: who comes much later has no part in it.
  void leave(double ns, double bound_ns) noexcept {
    const auto bound = static_cast<std::int64_t>(bound_ns), left = static_cast<std::int64_t>(ns);
    std::int64_t before = ns_.load(kRelaxed);
    while (!ns_.compare_exchange_weak(before, std::clamp(before + left, -bound, bound), kRelaxed)) {
    }
  }
  // Likewise no more than that: others may have written anything there.
  double take(double bound_ns) noexcept {
    return std::clamp(static_cast<double>(ns_.exchange(0, kRelaxed)), -bound_ns, bound_ns);
  }

 private:
  std::atomic<std::int64_t> ns_;
};

}  // namespace nvmemu
