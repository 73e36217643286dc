// SPDX-License-Identifier: Apache-2.0
// Work in pieces of a millisecond or so, between which the emulator is told what is done: `nvmemu run
// --alternate` compares by that.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/clock.h"
#include "nvmemu/nvmemu.h"

namespace nvmemu::workloads {

// How much to do: so many, or as many as take so long, wall time with all delays, the last piece whole.
struct Amount {
  std::uint64_t count = 0;
  std::uint64_t seconds = 0;  // 0: by count
};

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

// Likewise; returns how many were done.
template <typename Work>
std::uint64_t in_pieces(const Amount& amount, std::uint64_t piece, Work work) {
  if (amount.seconds == 0) {
    in_pieces(amount.count, piece, work);
    return amount.count;
  }
  std::uint64_t done = 0;
  for (const std::uint64_t begin_ns = monotonic_raw_ns();
       monotonic_raw_ns() - begin_ns < amount.seconds * 1'000'000'000; done += piece)
    in_pieces(piece, piece, work);
  return done;
}

}  // namespace nvmemu::workloads
