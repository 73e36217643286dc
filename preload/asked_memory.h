// SPDX-License-Identifier: Apache-2.0
// Whether memory that the program names to the kernel is there. The kernel is asked: a program that has
// SIGSEGV blocked would be ended by a read of the emulator's that faults, however it is guarded.
#pragma once

#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "base/page_bytes.h"
#include "base/raw_syscall.h"
#include "signal_mask.h"

namespace nvmemu::preload {

// Where memory is paged the kernel does not see what is not in DRAM. Whether the eight bytes there are, by
// now: for who is about to ask again. Async-signal-safe.
bool bring_in_word(std::uintptr_t at, bool to_write) noexcept;

// What `ask()` says of them, -EFAULT where they are not there. (They may go out again in between, while many
// are brought in.)
template <typename Ask>
bool finds_word(std::uintptr_t at, bool to_write, const Ask& ask) noexcept {
  constexpr int kTries = 4;
  for (int i = 0; i < kTries; ++i) {
    if (ask() != -EFAULT) return true;
    if (!bring_in_word(at, to_write)) return false;
  }
  return false;
}

// The eight bytes there. rt_sigprocmask(2) reads its set before it finds that the first argument means
// nothing.
inline bool kernel_reads_word(std::uintptr_t at) noexcept {
  constexpr int kNothing = -1;
  return finds_word(
      at, false, [at] { return raw_syscall(SYS_rt_sigprocmask, kNothing, at, nullptr, sizeof(SignalMask)); });
}

// All `bytes`, eight at least. Async-signal-safe.
inline bool kernel_reads(std::uintptr_t at, std::size_t bytes) noexcept {
  const std::uintptr_t last = at + bytes - sizeof(SignalMask);
  if (last < at) return false;
  for (std::uintptr_t word = at; word < last; word += std::min(kPageBytes, last - word)) {
    if (!kernel_reads_word(word)) return false;
  }
  return kernel_reads_word(last);
}

// Where `old` is asked for, which may be null.
inline bool kernel_writes_mask(std::uintptr_t old) noexcept {
  return old == 0 || finds_word(old, true, [old] {
           return raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, old, sizeof(SignalMask));
         });
}
inline bool kernel_writes_action(int signal, std::uintptr_t old) noexcept {
  return old == 0 || finds_word(old, true, [signal, old] {
           return raw_syscall(SYS_rt_sigaction, signal, nullptr, old, sizeof(SignalMask));
         });
}

}  // namespace nvmemu::preload
