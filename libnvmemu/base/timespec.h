// SPDX-License-Identifier: Apache-2.0
// Nanoseconds, and time as the kernel takes it. Async-signal-safe.
#pragma once

#include <cstdint>
#include <ctime>

namespace nvmemu {

constexpr timespec timespec_of(std::uint64_t ns) noexcept {
  constexpr std::uint64_t kPerSecond = 1'000'000'000;
  return {static_cast<time_t>(ns / kPerSecond), static_cast<long>(ns % kPerSecond)};
}

// Of a time that is not negative.
constexpr std::uint64_t ns_of(const timespec& time) noexcept {
  constexpr std::uint64_t kPerSecond = 1'000'000'000;
  return static_cast<std::uint64_t>(time.tv_sec) * kPerSecond + static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace nvmemu
