// SPDX-License-Identifier: Apache-2.0
// Whose a board is, so that those can be swept whose owner was killed. Plain data on the board: like all
// there, it may be anything. Not for signal handlers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nvmemu {

struct BoardOwner {
  std::uint64_t pid_namespace = 0;  // numbers mean nothing in another
  std::uint64_t start_ticks =
      0;  // since boot; with it, a number that was given out again is told from the first
  std::uint32_t pid = 0;
};

BoardOwner this_process_as_owner();

// Whether it is known that there is no such process any more.
bool is_gone(const BoardOwner& owner);

// What every board of this version begins with.
struct BoardHead {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t bytes;
  BoardOwner owner;
};

inline constexpr std::uint64_t kBoardMagic = 0x314452414f42564e;  // "NVBOARD1" as bytes
inline constexpr std::uint32_t kBoardVersion = 14;
inline constexpr char kBoardPrefix[] = "nvmemu-";
inline constexpr char kBoardSuffix[] = ".board";

// Removes this user's boards in `directory` that are of `bytes` and whose owner is gone.
void sweep_boards(const char* directory, std::size_t bytes);

}  // namespace nvmemu
