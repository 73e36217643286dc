// SPDX-License-Identifier: Apache-2.0
// The system calls that the emulator makes while the program runs, for sandboxes that may not let them
// through.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace nvmemu::preload {

enum class NeededFor {
  kTick,       // each one's: a thread without it runs natively
  kBeginning,  // of processes, which run natively without it, and of threads
  kMore,       // of threads, or to watch them: done without
  kReport,     // where no tool makes the board and the report
};

struct SyscallNeed {
  long number;
  const char* name;
  NeededFor what;
  std::array<std::uint64_t, 6> arguments;  // such as it is called with, which filters may look at
};

std::span<const SyscallNeed> syscall_needs() noexcept;

}  // namespace nvmemu::preload
