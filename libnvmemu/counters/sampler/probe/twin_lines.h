// SPDX-License-Identifier: Apache-2.0
// Cache lines of the emulator's own that are read when a burst of probes begins and timed as it goes on:
// those that come from memory by then, others have taken from the caches on the way. The program's lines fare
// alike: while its traps are handled it does not run, and who shares the caches does. (A chase over 64 KiB,
// on a guest whose neighbours share its L2, whose own rounds take 4 us: of hits 5 to 10 of a burst 1 to 3 %
// came from memory, of hits 80 to 86 up to a half.)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace nvmemu {

// Of one thread; the lines are taken at random from memory that all threads of the process share, because
// some sets of a cache lose far more than others (those that the kernel's way into a trap leads through): of
// 24 lines that were always the same, two were lost in every sixth burst. All of it is async-signal-safe.
class TwinLines {
 public:
  // Two for each reading of the longest burst.
  static constexpr std::size_t kLines = 24;

  // Chooses lines and reads them. Without effect where no memory can be had.
  void touch() noexcept;
  // The next one; null where there is none left.
  const char* next() noexcept;

 private:
  std::array<const char*, kLines> chosen_{};
  std::size_t next_ = kLines;
  std::uint64_t random_ = 0;
};

}  // namespace nvmemu
