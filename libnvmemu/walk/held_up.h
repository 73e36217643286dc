// SPDX-License-Identifier: Apache-2.0
// How long a walk has waited for what is no memory's doing: pages that the kernel, or a host, must supply
// first take some 20 us each, and there may be thousands in a row (after a program has set up a large set in
// 4 KiB pages, where a host keeps translations of its own). What is read beside them is of no use either,
// being slower than it will be, and the walk would take the program's time for a tenth of a second. Pure.
#pragma once

#include "walk/load_record.h"

namespace nvmemu {

class HeldUp {
 public:
  static constexpr double kMostNs = 1e6;

  // A load took so many ticks, fences included; 0: it was not timed.
  void add(double ticks, const WalkScale& scale) noexcept {
    if (ticks > scale.longest_ticks) ns_ += scale.ns(ticks);
  }
  bool for_too_long() const noexcept { return ns_ > kMostNs; }

 private:
  double ns_ = 0;
};

}  // namespace nvmemu
