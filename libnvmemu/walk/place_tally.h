// SPDX-License-Identifier: Apache-2.0
// What a run has waited for, by place: mapped files, the heap, stacks, other memory, and blocks by the call
// that allocated them. In memory that its processes share, zeroed.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nvmemu {

struct PlaceTally {
  static constexpr std::size_t kMost = 256;
  static constexpr std::size_t kNameBytes = 104;
  enum State : std::uint32_t { kFree, kBeingFilled, kThere };

  struct Place {
    std::atomic<std::uint32_t> state;
    std::uint32_t pid;
    std::uint32_t is_site;                  // blocks of a call's, by whose name it goes
    std::atomic<std::uint64_t> begin, end;  // addresses; all that was ever seen of it. Of blocks the lowest
                                            // one's, and as much more as there ever were at a time
    std::atomic<std::uint64_t> waited;  // by the run: weights, of which only the proportions mean anything
    char name[kNameBytes];              // as /proc/PID/maps has it; empty: memory of no file
  };
  std::array<Place, kMost> places;
  std::atomic<std::uint64_t> elsewhere;  // likewise: what was unmapped, or for which there was no room
};

}  // namespace nvmemu
