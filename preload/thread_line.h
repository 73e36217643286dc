// SPDX-License-Identifier: Apache-2.0
// What a thread tells the board: its line there, and its part of the sums of all.
#pragma once

#include <cstdint>

#include "base/stall_kinds.h"
#include "counters/traffic_counts.h"
#include "tier/tier.h"

namespace nvmemu {
class ThreadEmulator;
struct BoardThread;
}  // namespace nvmemu

namespace nvmemu::preload {

// One thread's, written by it alone. Zeros are a valid state. All members are async-signal-safe, and make
// system calls only by raw_syscall(): open() and its kind are cancellation points.
class ThreadLine {
 public:
  // Its figures start at 0.
  void begin() noexcept;
  // The first time, asks for a line of that thread's, where the board has one left.
  void claim(int tid) noexcept;
  void claim_anew(int tid) noexcept;                    // in the child of a fork, whose parent had claimed
  BoardThread* slot() const noexcept { return slot_; }  // null where there is none

  void publish(ThreadEmulator& emulator) noexcept;
  void note_user_time() noexcept;  // by the thread itself, at its end
  void end(int tid) noexcept;

 private:
  void publish_traffic(ThreadEmulator& emulator) noexcept;
  void publish_tiers(const ThreadEmulator& emulator) noexcept;
  void publish_persists(const ThreadEmulator& emulator) noexcept;

  bool has_claimed_;
  BoardThread* slot_;
  // What is on the board already.
  TrafficCounts published_;
  double published_held_ns_;
  std::uint64_t published_until_ns_;
  std::uint64_t published_persists_, published_lines_, published_persist_delay_ns_;
  struct {
    std::uint64_t persists, lines, delay_ns, model_error_ns, variance_us2;
  } published_estimate_;
  ByTier<ByStallKind<std::uint64_t>> published_stall_ns_;
  ByTier<std::uint64_t> published_delay_ns_;
};

}  // namespace nvmemu::preload
