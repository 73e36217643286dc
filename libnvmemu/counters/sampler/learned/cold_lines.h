// SPDX-License-Identifier: Apache-2.0
// Lines that stand for the one that a load is about to read, where the processor knows of that one already.
//
// When a trap is taken, the walk of the page tables that the load has begun goes on, and is over when the
// handler times the load (prober.h). Where the load went some bursts ago lies in the same memory, is as far
// from the caches as what it has not read yet, and nothing has begun to look up its translation: other lines
// of those pages, each read once, tell what a load waits for that comes to a page anew.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nvmemu {

// Of one load, shared by all threads. Lock-free, async-signal-safe.
class ColdLines {
 public:
  // The load has read `address` from memory, which stays mapped for a while in most programs: whoever reads
  // what take() gives must be ready for a fault.
  void add(std::uintptr_t address) noexcept {
    const std::size_t slot = next_.fetch_add(1, std::memory_order_relaxed) % kKept;
    lines_[slot].store(address ^ kOtherLine, std::memory_order_relaxed);
  }

  // Each line once; 0: there is none.
  std::uintptr_t take() noexcept {
    const std::size_t oldest = next_.load(std::memory_order_relaxed);
    for (std::size_t i = 0; i < kKept; ++i) {
      const auto line = lines_[(oldest + i) % kKept].exchange(0, std::memory_order_relaxed);
      if (line != 0) return line;
    }
    return 0;
  }

  void clear() noexcept {
    for (auto& line : lines_) line.store(0, std::memory_order_relaxed);
  }

 private:
  static constexpr std::size_t kKept = 8;  // some more than a burst's readings
  // In the same page; not the one that probes of shares read there, which differs by 2048.
  static constexpr std::uintptr_t kOtherLine = 1 << 10;

  std::array<std::atomic<std::uintptr_t>, kKept> lines_{};
  std::atomic<std::uint8_t> next_{0};
};

}  // namespace nvmemu
