// SPDX-License-Identifier: Apache-2.0
// A set of numbers that threads and signal handlers may use at the same time: lock-free, never allocates.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/fibonacci_hash.h"

namespace nvmemu::preload {

// Of numbers above 1. Zero-initialized it is empty.
template <std::size_t kSlots>
class AtomicSet {
 public:
  // Whether it holds the number now; false where there is no more room for it, and of 0 and 1.
  bool add(std::uintptr_t number) noexcept {
    if (number <= kRemoved) return false;
    if (find(number) != nullptr) return true;
    for (std::size_t step = 0; step < kReach; ++step) {
      std::atomic<std::uintptr_t>& slot = slots_[slot_of(number, step)];
      std::uintptr_t held = slot.load(std::memory_order_relaxed);
      if (held <= kRemoved && slot.compare_exchange_strong(held, number)) return true;
    }
    return false;
  }
  // Whether it held the number.
  bool remove(std::uintptr_t number) noexcept {
    auto* slot = find(number);
    if (slot != nullptr) slot->store(kRemoved);
    return slot != nullptr;
  }
  bool contains(std::uintptr_t number) noexcept { return find(number) != nullptr; }

 private:
  static constexpr std::size_t kReach = 64;      // slots searched from where the hash points
  static constexpr std::uintptr_t kRemoved = 1;  // nothing, but the search goes on behind it

  static std::size_t slot_of(std::uintptr_t number, std::size_t step) {
    return ((fibonacci_hash(number) >> 40) + step) % kSlots;
  }
  std::atomic<std::uintptr_t>* find(std::uintptr_t number) noexcept {
    if (number <= kRemoved) return nullptr;
    for (std::size_t step = 0; step < kReach; ++step) {
      std::atomic<std::uintptr_t>& slot = slots_[slot_of(number, step)];
      const std::uintptr_t held = slot.load();
      if (held == number) return &slot;
      if (held == 0) return nullptr;
    }
    return nullptr;
  }

  std::atomic<std::uintptr_t> slots_[kSlots];
};

}  // namespace nvmemu::preload
