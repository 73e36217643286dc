// SPDX-License-Identifier: Apache-2.0
// What a slot of a table by address holds while one fills it: the tables lie in memory that processes share,
// and any of them may be killed at any time, with a slot half filled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>

#include "base/fibonacci_hash.h"

namespace nvmemu {

// Of no address in user space.
inline constexpr std::uintptr_t kBusyBit = std::uintptr_t{1} << 63;
// To fill a slot takes microseconds; so long, that who began it is no more, or was stopped.
inline constexpr std::uintptr_t kAbandonedAfterS = 10;

// Without a system call: a program's seccomp filter might object to it.
inline std::uintptr_t seconds_now() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<std::uintptr_t>(now.tv_sec);
}

inline std::uintptr_t busy_mark(std::uintptr_t now_s = seconds_now()) noexcept { return kBusyBit | now_s; }

inline bool is_busy(std::uintptr_t held) noexcept { return (held & kBusyBit) != 0; }

inline bool is_abandoned(std::uintptr_t held) noexcept {
  return is_busy(held) && seconds_now() >= (held & ~kBusyBit) + kAbandonedAfterS;
}

inline std::size_t slot_hash(std::uintptr_t ip) noexcept {
  return static_cast<std::size_t>(fibonacci_hash(ip) >> 40);
}

}  // namespace nvmemu
