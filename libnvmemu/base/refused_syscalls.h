// SPDX-License-Identifier: Apache-2.0
// System calls that this process may not make: a sandbox would end it for the attempt. None at first.
// Thread- and async-signal-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nvmemu {

inline constexpr std::size_t kKnownSyscalls = 512;
inline constinit std::atomic<std::uint64_t> refused_syscalls[kKnownSyscalls / 64]{};

inline void refuse_syscall(long number) noexcept {
  const auto at = static_cast<std::size_t>(number);
  if (at >= kKnownSyscalls) return;
  refused_syscalls[at / 64].fetch_or(std::uint64_t{1} << at % 64, std::memory_order_relaxed);
}

inline bool is_refused_syscall(long number) noexcept {
  const auto at = static_cast<std::size_t>(number);
  if (at >= kKnownSyscalls) return false;
  return (refused_syscalls[at / 64].load(std::memory_order_relaxed) >> at % 64 & 1) != 0;
}

}  // namespace nvmemu
