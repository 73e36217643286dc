// SPDX-License-Identifier: Apache-2.0
// What a process has learnt of its own code: for each sampled address, the instruction that was waited for.
// Shared by all threads, and by forked children; lock-free, async-signal-safe, never allocates.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "counters/counts.h"
#include "walk/rules.h"

namespace nvmemu {

// An instruction: fixed once the entry is published.
struct LoadEntry {
  std::uintptr_t address = 0;  // of the instruction
  StallKind kind = StallKind::kOther;
  std::uint32_t code_checksum = 0;  // of the bytes before the sampled address: code may be replaced under it
};

class LoadTable {
 public:
  // The entry for what came before `ip`; made at first sight, in the place of another where the table is
  // crowded around it: of one that is no load, if there is one. Null while another thread is writing it; the
  // sample is then counted as kOther. `rules`: the same in all calls.
  const LoadEntry* find(std::uintptr_t ip, Rules rules = {}) noexcept;

 private:
  static constexpr std::size_t kSlots = 16384;  // addresses; compilers are sampled at tens of thousands
  static constexpr std::size_t kReach = 16;     // slots searched from where the hash points

  struct Slot {
    std::atomic<std::uintptr_t> ip{0};  // 0: free; see table_slot.h
    LoadEntry entry;
  };
  static const LoadEntry* claim(Slot& slot, std::uintptr_t held, std::uintptr_t ip, Rules rules) noexcept;

  std::array<Slot, kSlots> slots_{};
};

}  // namespace nvmemu
