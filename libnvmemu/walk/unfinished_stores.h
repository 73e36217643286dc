// SPDX-License-Identifier: Apache-2.0
// What a fence or a locked instruction waits for: lines of the stores before it, which are fetched side by
// side. Behind a flush it waits for a persist instead, which is no read. Pure; one thread's.
#pragma once

#include "tier/tier.h"

namespace nvmemu {

class UnfinishedStores {
 public:
  struct Slowest {
    double ticks = 0;  // as a timed load of its line reads; 0: nothing was timed
    TierId tier = 0;
    bool is_persist = false;
  };

  void on_store(double ticks, TierId tier) noexcept {
    if (ticks > slowest_.ticks) slowest_ = {ticks, tier};
  }
  // A line is written back, or a store goes past the caches.
  void on_flush() noexcept { is_persist_ = true; }

  // They are waited for: then there are none.
  Slowest finish() noexcept {
    const Slowest slowest = is_persist_ ? Slowest{.is_persist = true} : slowest_;
    *this = {};
    return slowest;
  }

 private:
  Slowest slowest_;
  bool is_persist_ = false;
};

}  // namespace nvmemu
