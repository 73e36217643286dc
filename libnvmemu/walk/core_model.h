// SPDX-License-Identifier: Apache-2.0
// How long a stream of instructions takes an out-of-order core whose misses take so long, and how many of its
// misses are waited for one after another. Pure arithmetic; a model's answer, to compare with the same
// model's at another latency.
//
// An instruction enters a window when the one so many before it has retired, issues when what it reads is
// there, and retires in order. Loads of a line that is on its way wait for it; nothing enters behind a
// mispredicted branch before that is resolved.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "walk/micro_op.h"

namespace nvmemu {

enum class Served : std::uint8_t { kFirstLevel, kSecondLevel, kLastLevel, kMemory };

struct CoreTiming {
  std::array<double, 4> load_ns{};  // by Served
  double cycle_ns = 0;              // of a result without loads
  double enter_ns = 0;              // between two instructions that enter the window
  std::uint16_t window = 128;       // instructions
  std::uint16_t misses = 12;        // at a time
};

// What counts misses in a row: all else takes no time, a miss takes 1.
constexpr CoreTiming group_counting(std::uint16_t window = 128) noexcept {
  return {.load_ns = {0, 0, 0, 1}, .cycle_ns = 0, .enter_ns = 0, .window = window, .misses = 64};
}

// Zeros are a valid state, before begin(); one thread's. Async-signal-safe.
class CoreModel {
 public:
  static constexpr std::size_t kLongestWindow = 512;
  static constexpr std::size_t kMostMisses = 64;

  // Window and misses at most what is said above.
  void begin(const CoreTiming& timing) noexcept;

  // The next instruction, whose operand in memory is at `address`; `served`: what its slowest load came from.
  void add(const MicroOp& op, std::uintptr_t address, Served served, bool mispredicted) noexcept;

  // Since begin(), until the last instruction retires; and how much of that loads alone kept others waiting.
  double time_ns() const noexcept { return retired_; }
  double stall_ns() const noexcept { return stall_; }

 private:
  static constexpr std::size_t kPlaceBits = 13;
  // When what lies at a place is there: a line's arrival, a stored word's result. Another place with the same
  // hash takes its place.
  struct Place {
    std::uint32_t tag;
    std::uint32_t stream;
    double ready;
  };
  using Places = std::array<Place, std::size_t{1} << kPlaceBits>;

  double ready_of(const Places& places, std::uintptr_t place) const noexcept;
  void set_ready(Places& places, std::uintptr_t place, double ready) noexcept;
  double latest(WalkSet set, double from) const noexcept;
  double load(std::uintptr_t address, Served served, double from) noexcept;

  CoreTiming timing_;
  std::uint32_t stream_;  // the number of begin()s
  std::uint32_t count_;
  std::uint32_t misses_;
  double entered_, retired_, resolved_, stall_;
  std::array<double, kWalkSetSize> ready_;
  std::array<double, kLongestWindow> retirements_;
  std::array<double, kMostMisses> outstanding_;
  Places lines_, words_;
};

// gshare: which branches a predictor would get wrong.
class BranchGuess {
 public:
  bool mispredicts(std::uintptr_t address, bool taken) noexcept;

 private:
  static constexpr std::size_t kCounters = 4096;
  std::array<std::uint8_t, kCounters> counters_;  // 0 and 1: not taken
  std::uint32_t history_;
};

}  // namespace nvmemu
