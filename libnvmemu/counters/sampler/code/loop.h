// SPDX-License-Identifier: Apache-2.0
// The innermost loop around an address, and the streams through memory that it follows: accesses whose
// address moves on by a step in each iteration.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "walk/decode/memory_operand.h"

namespace nvmemu {

// Accesses near each other that move on together: of an unrolled loop, say, or of a[i] and a[i + 1].
struct Stream {
  MemoryOperand operand;     // the first of them
  std::int64_t step = 0;     // bytes an iteration; 0: not known
  double touched = 1;        // of the lines that it passes, the share that it touches
  bool reads = false;        // any of them
  bool writes = false;       // any of them
  bool whole_lines = false;  // all that write do so without reading the line first
};

struct Loop {
  static constexpr std::size_t kStreams = 8;

  std::uintptr_t begin = 0;  // of its first instruction
  std::uintptr_t end = 0;    // past its last one
  std::uint8_t stream_count = 0;
  std::array<Stream, kStreams> streams{};  // or the first of them
};

// Decodes the code around `ip`, an instruction that was executing a moment ago: forward to the branch that
// leads back to it or before, and what lies between. A string instruction that repeats itself is a loop of
// its own. Nothing where there is no such branch within 4 KiB. Async-signal-safe; reads only code that is
// mapped. Some ten us.
std::optional<Loop> loop_around(std::uintptr_t ip) noexcept;

}  // namespace nvmemu
