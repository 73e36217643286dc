// SPDX-License-Identifier: Apache-2.0
// How long a stream of instructions takes an out-of-order core, with misses as long as they are here and with
// misses longer, and for how much of that it waits for misses alone. Pure arithmetic; a model's
// answer, to compare with the same model's.
//
// An instruction enters a window when the one so many before it has retired, issues when what it reads is
// there, and retires in order, as many at a time as enter. Of those in the window only so many can wait for
// what they read: nothing enters behind them until one of them issues. Loads of a line that is on its way
// wait for it; nothing enters behind a mispredicted branch before that is resolved.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "walk/decode/micro_op.h"

namespace nvmemu {

struct CoreTiming {
  double cycle_ns = 0;         // a result that waits for no memory takes this times its latency in cycles
  double enter_ns = 0;         // between two instructions that enter the window, or retire
  double near_ns = 0;          // a load from the nearest cache
  std::uint16_t window = 224;  // instructions,
  std::uint16_t waiting = 96;  // and how many of them may wait for others' results
  std::uint16_t misses = 12;   // at a time
};

// What an instruction's slowest load took. ns, 0: no more than the nearest cache takes.
struct LoadTime {
  double ns = 0;
  bool is_miss = false;  // it came from memory,
  double longer_ns = 0;  // and takes so much longer there
};

// A moment, or a length, in ns: with misses as they are here, and with longer ones.
struct CoreTime {
  double here = 0, longer = 0;

  CoreTime& operator+=(double ns) noexcept {
    here += ns;
    longer += ns;
    return *this;
  }
  friend CoreTime operator+(CoreTime time, double ns) noexcept { return time += ns; }
  friend bool is_after(CoreTime a, CoreTime b) noexcept { return a.here > b.here || a.longer > b.longer; }
  friend CoreTime later(CoreTime a, CoreTime b) noexcept {
    return {std::max(a.here, b.here), std::max(a.longer, b.longer)};
  }
};

// Zeros are a valid state, before begin(); one thread's. Async-signal-safe.
class CoreModel {
 public:
  static constexpr std::size_t kLongestWindow = 512;
  static constexpr std::size_t kMostMisses = 64;

  // At most what is said above of each.
  void begin(const CoreTiming& timing) noexcept;

  // The next instruction, whose operand in memory is at `address`.
  void add(const MicroOp& op, std::uintptr_t address, LoadTime load, bool mispredicted) noexcept;
  // Or a fence that holds up what would retire behind it; what issues does not wait for stores.
  void add_fence(const MicroOp& op, double held_ns) noexcept;

  // Since begin(), until the last instruction retires.
  CoreTime time() const noexcept { return retired_; }
  // How much of that, here, was spent behind loads that waited for misses: their own, or of a line on its
  // way.
  double stall_ns() const noexcept { return stall_ns_; }

 private:
  // When what lies at a place is there: a line's arrival, a stored word's result. Another place with the same
  // hash takes its place: few matter at a time, and what the model uses takes of the program's caches.
  struct Place {
    std::uint32_t tag;
    std::uint32_t stream;
    CoreTime ready;
  };
  // When each of the buffers that lines on their way take up is free again, as one of CoreTime's two has it.
  using Buffers = std::array<double, kMostMisses>;
  struct Arrival {
    CoreTime at;
    bool from_memory = false;
  };

  template <std::size_t Size>
  CoreTime ready_of(const std::array<Place, Size>& places, std::uintptr_t place) const noexcept;
  template <std::size_t Size>
  void set_ready(std::array<Place, Size>& places, std::uintptr_t place, CoreTime ready) noexcept;
  CoreTime latest(RegisterSet set, CoreTime from) const noexcept;
  Arrival fetch(std::uintptr_t address, LoadTime load, CoreTime from) noexcept;
  double take_buffer(Buffers& buffers, double from, double ns) const noexcept;
  void wait_for_place(CoreTime inputs) noexcept;
  void take_place(CoreTime issued) noexcept;

  CoreTiming timing_;
  std::uint32_t stream_;  // the number of begin()s
  std::uint32_t count_;
  std::uint32_t waits_;
  CoreTime entered_, retired_, resolved_;
  double stall_ns_;
  std::array<CoreTime, kRegisterSetSize> ready_;
  std::array<CoreTime, kLongestWindow> retirements_;
  std::array<CoreTime, kLongestWindow> issues_;  // of those that waited
  Buffers here_, longer_;
  std::array<Place, 256> lines_;  // some times as many as can be on their way,
  std::array<Place, 512> words_;  // or in the window
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
