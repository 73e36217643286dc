// SPDX-License-Identifier: Apache-2.0
// The loops of a process, by the addresses that were sampled in them. Shared by all threads, and by forked
// children; lock-free, async-signal-safe, never allocates.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "counters/sampler/code/loop.h"

namespace nvmemu {

class LoopTable {
 public:
  // The loop around `ip`, decoded at first sight; null where there is none, where the table is crowded, or
  // while another thread writes it. It stays where it is, but another may take its place (a program's
  // generated code may be replaced).
  const Loop* find(std::uintptr_t ip) noexcept;

 private:
  static constexpr std::size_t kSlots = 1024;
  static constexpr std::size_t kReach = 16;  // slots searched from where the hash points

  struct Slot {
    std::atomic<std::uintptr_t> ip{0};  // 0: free; see table_slot.h
    std::uint32_t code_checksum = 0;
    bool is_loop = false;
    Loop loop;
  };
  static const Loop* claim(Slot& slot, std::uintptr_t held, std::uintptr_t ip) noexcept;

  std::array<Slot, kSlots> slots_{};
};

}  // namespace nvmemu
