// SPDX-License-Identifier: Apache-2.0
// What a slot of a table by address holds while one fills it: the tables lie in memory that processes share,
// and any of them may be killed at any time, with a slot half filled.
#pragma once

#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "base/raw_syscall.h"

namespace nvmemu {

// Of no address in user space.
inline constexpr std::uintptr_t kBusyBit = std::uintptr_t{1} << 63;

inline std::uintptr_t busy_mark() noexcept {
  return kBusyBit | static_cast<std::uintptr_t>(raw_syscall(SYS_getpid));
}

inline bool is_busy(std::uintptr_t held) noexcept { return (held & kBusyBit) != 0; }

// Whether who fills the slot is no more.
inline bool is_abandoned(std::uintptr_t held) noexcept {
  return is_busy(held) && raw_syscall(SYS_kill, held & ~kBusyBit, 0) == -ESRCH;
}

inline std::size_t slot_hash(std::uintptr_t ip) noexcept {
  return static_cast<std::size_t>((ip * 0x9E3779B97F4A7C15ULL) >> 40);
}

}  // namespace nvmemu
