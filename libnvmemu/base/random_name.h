// SPDX-License-Identifier: Apache-2.0
// Names of new files, known before these are made, so that who is to take them away can be told in time.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "base/clock.h"
#include "base/raw_syscall.h"
#include "base/xorshift.h"

namespace nvmemu {

// As many characters as make it certain that there is no such name: 60 bits of them.
inline constexpr std::size_t kRandomName = 10;

// Writes that many letters, digits, '-' and '_' (no zero behind them). Async-signal-safe.
inline void write_random_name(char* to) noexcept {
  constexpr char kCharacters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  constexpr unsigned kBits = 6;
  constexpr std::uint64_t kMask = (1U << kBits) - 1;
  std::uint64_t random = 0;
  if (raw_syscall(SYS_getrandom, &random, sizeof random, 0) != sizeof random)  // a sandbox
    random = next_xorshift(monotonic_raw_ns() << 20 ^ static_cast<std::uint64_t>(getpid()));
  for (std::size_t i = 0; i < kRandomName; ++i) to[i] = kCharacters[random >> kBits * i & kMask];
}

}  // namespace nvmemu
