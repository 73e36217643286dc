// SPDX-License-Identifier: Apache-2.0
// Wall time of a region, with the delay that the emulator owes for it.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "nvmemu/nvmemu.h"

namespace nvmemu::workloads {

// The emulator pays at the ends of its epochs, a tenth of a second apart. So that set-up is not paid for
// inside the region, and all of the region is, the thread settles at both ends. Natively that costs nothing.
class Stopwatch {
 public:
  // Starts.
  Stopwatch() {
    nvmemu_settle();
    start_ns_ = monotonic_raw_ns();
  }

  // ns since the start, all that is owed paid.
  double stop_ns() const {
    nvmemu_settle();
    return static_cast<double>(monotonic_raw_ns() - start_ns_);
  }

 private:
  std::uint64_t start_ns_;
};

inline bool emulated() { return nvmemu_active && nvmemu_active() != 0; }

}  // namespace nvmemu::workloads
