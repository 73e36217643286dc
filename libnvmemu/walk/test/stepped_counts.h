// SPDX-License-Identifier: Apache-2.0
// What came of a program's walks.
#pragma once

#include <Zydis/Zydis.h>

#include <array>
#include <bitset>
#include <cstdint>

#include "walk/test/astray_walks.h"
#include "walk/test/walk_comparison.h"

namespace nvmemu {

class SteppedCounts {
 public:
  // Async-signal-safe.
  void add(const WalkComparison& over) noexcept;
  void add_tick_with_threads() noexcept { ++with_threads_; }
  // Appends a line of JSON to the file.
  void write_to(const char* path, const AstrayWalks& astray) const;

 private:
  struct Found {
    MicroOp op;
    RegisterDifference difference;
  };

  std::uint64_t walks_ = 0, walked_ = 0, compared_ = 0, differences_ = 0;
  std::uint64_t at_clocks_ = 0, at_repetitions_ = 0, with_threads_ = 0;
  std::array<std::uint64_t, kWalkStops> stops_{};    // kNone: walked as far as was asked
  std::bitset<ZYDIS_MNEMONIC_MAX_VALUE + 1> kinds_;  // of instructions that were compared
  Found first_;
};

}  // namespace nvmemu
