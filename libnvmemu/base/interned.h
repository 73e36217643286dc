// SPDX-License-Identifier: Apache-2.0
// Values by number, each once: added, and never taken away. Lock-free, async-signal-safe, never allocates.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <optional>

namespace nvmemu {

// Zeros are a valid state: to lie in memory mapped for it.
template <typename T, std::size_t kMost>
class Interned {
 public:
  // Its number; nothing where there are too many others. Two who add the same one at once may each get a
  // number.
  std::optional<std::size_t> number_of(const T& value) noexcept {
    for (std::size_t i = 0; i < kMost; ++i) {
      if (is_there_[i].load(std::memory_order_acquire) && values_[i] == value) return i;
    }
    if (taken_.load(std::memory_order_relaxed) >= kMost) return std::nullopt;
    const std::size_t place = taken_.fetch_add(1, std::memory_order_relaxed);
    if (place >= kMost) return std::nullopt;
    values_[place] = value;
    is_there_[place].store(true, std::memory_order_release);
    return place;
  }
  // All that `other` has by now, under the same numbers: there is nothing in this one yet.
  void copy(const Interned& other) noexcept {
    const std::size_t taken = other.taken_.load(std::memory_order_relaxed);
    taken_.store(taken, std::memory_order_relaxed);
    for (std::size_t i = 0; i < kMost && i < taken; ++i) {
      if (!other.is_there_[i].load(std::memory_order_acquire)) continue;
      values_[i] = other.values_[i];
      is_there_[i].store(true, std::memory_order_release);
    }
  }
  // Of a number that was given out.
  const T& operator[](std::size_t number) const noexcept { return values_[number]; }

 private:
  std::atomic<std::size_t> taken_{0};
  std::array<std::atomic<bool>, kMost> is_there_{};
  std::array<T, kMost> values_{};
};

}  // namespace nvmemu
