// SPDX-License-Identifier: Apache-2.0
// The system calls that the emulator makes while the program runs, for sandboxes that may not let them
// through.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace nvmemu::preload {

struct SyscallNeed {
  long number;
  const char* name;
  bool is_vital;                           // at each tick: a thread without it runs natively
  std::array<std::uint64_t, 6> arguments;  // such as it is called with, which filters may look at
};

std::span<const SyscallNeed> syscall_needs() noexcept;

}  // namespace nvmemu::preload
