// SPDX-License-Identifier: Apache-2.0
// Whether memory that a call was given can be used, by the kernel's own view of it: where it cannot, the
// program is to be told EFAULT, and not to end in the emulator's code. A call that refuses what it has read,
// or that writes what nobody needs. Keeps errno; async-signal-safe.
#pragma once

#include <signal.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "base/raw_syscall.h"
#include "signal_mask.h"

namespace nvmemu::preload {

// One word there, which need not be aligned. Of a method that there is none of: EINVAL, when the mask is
// read.
inline bool can_read_word(std::uintptr_t at) noexcept {
  constexpr int kNoMethod = -1;
  return raw_syscall(SYS_rt_sigprocmask, kNoMethod, at, nullptr, sizeof(SignalMask)) != -EFAULT;
}
// Which is overwritten.
inline bool can_overwrite_word(std::uintptr_t at) noexcept {
  return raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, at, sizeof(SignalMask)) != -EFAULT;
}

// Of `bytes` there, a word at least, one in each page, and the last.
template <typename CanUse>
bool can_use(const void* memory, std::size_t bytes, CanUse can_use_word) noexcept {
  constexpr std::uintptr_t kPage = 4096;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t last = begin + bytes - sizeof(SignalMask);
  if (last < begin) return false;
  for (std::uintptr_t at = begin; at < last; at = std::min(last, (at / kPage + 1) * kPage))
    if (!can_use_word(at)) return false;
  return can_use_word(last);
}
inline bool can_read(const void* memory, std::size_t bytes) noexcept {
  return can_use(memory, bytes, can_read_word);
}
inline bool can_overwrite(void* memory, std::size_t bytes) noexcept {
  return can_use(memory, bytes, can_overwrite_word);
}

}  // namespace nvmemu::preload
