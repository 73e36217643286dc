// SPDX-License-Identifier: Apache-2.0
// Work in pieces of a millisecond or so, between which the emulator is told what is done: `nvmemu run
// --alternate` compares by that.
#pragma once

#include <algorithm>
#include <cstdint>

#include "nvmemu/nvmemu.h"

namespace nvmemu::workloads {

// Calls work(how many) until `count` are done, `piece` (> 0) at a time; the last is what is left.
template <typename Work>
void in_pieces(std::uint64_t count, std::uint64_t piece, Work work) {
  for (std::uint64_t left = count; left > 0;) {
    const std::uint64_t now = std::min(left, piece);
    work(now);
    nvmemu_done(now);
    left -= now;
  }
}

}  // namespace nvmemu::workloads
