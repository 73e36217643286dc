// SPDX-License-Identifier: Apache-2.0
// A value that others may look at while it changes: theirs is one that it had. Copied as a plain one is, and
// as plain in memory that processes share. Wait-free, async-signal-safe.
#pragma once

#include <atomic>

namespace nvmemu {

template <typename T>
class Watched {
 public:
  constexpr Watched(T value = T{}) noexcept : value_(value) {}
  Watched(const Watched& other) noexcept : value_(T{other}) {}
  Watched& operator=(const Watched& other) noexcept { return *this = T{other}; }
  Watched& operator=(T value) noexcept {
    value_.store(value, std::memory_order_relaxed);
    return *this;
  }
  operator T() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<T> value_;
};

}  // namespace nvmemu
