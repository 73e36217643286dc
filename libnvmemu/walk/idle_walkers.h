// SPDX-License-Identifier: Apache-2.0
// Walkers of a process's threads that have ended, for those that begin: to make their memory anew takes
// 0.1 ms, which a short thread would be longer by. Zeros are a valid state. Lock-free, async-signal-safe.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "base/mapped.h"
#include "walk/walker.h"

namespace nvmemu {

class IdleWalkers {
 public:
  // Null where there is no memory.
  Walker* take() noexcept {
    for (std::atomic<Walker*>& place : places_) {
      Walker* const idle = place.load(std::memory_order_relaxed) == nullptr
                               ? nullptr
                               : place.exchange(nullptr, std::memory_order_acquire);
      if (idle == nullptr) continue;
      idle->begin_thread();
      return idle;
    }
    return map_zeroed<Walker>();
  }
  // May be null.
  void give_back(Walker* walker) noexcept {
    if (walker == nullptr) return;
    for (std::atomic<Walker*>& place : places_) {
      Walker* none = nullptr;
      if (place.compare_exchange_strong(none, walker, std::memory_order_release)) return;
    }
    unmap(walker);
  }

 private:
  static constexpr std::size_t kMost = 16;  // 15 MB
  std::array<std::atomic<Walker*>, kMost> places_;
};

}  // namespace nvmemu
