// SPDX-License-Identifier: Apache-2.0
// Work that needs more stack than there may be: a handler's, or a coroutine's.
#pragma once

#include <sys/mman.h>
#include <sys/syscall.h>

#include <cstddef>

#include "base/raw_syscall.h"
#include "own_stack.h"
#include "signal_mask.h"

namespace nvmemu::preload {

// `work()` on 64 KiB of stack that are mapped for it, with the program's signals blocked. Not done where
// there is no memory. Async-signal-safe; some microseconds.
template <typename Work>
void do_apart(const Work& work) noexcept {
  constexpr std::size_t kBytes = std::size_t{64} << 10;
  const long memory = raw_syscall(SYS_mmap, nullptr, kBytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (is_error(memory)) return;
  OwnStack stack{};
  stack.set(reinterpret_cast<char*>(memory) + kBytes);
  const SignalMask before = set_signal_mask(kAllButForced);
  stack.run(work);
  raw_syscall(SYS_munmap, memory, kBytes);
  set_signal_mask(before);
}

}  // namespace nvmemu::preload
