// SPDX-License-Identifier: Apache-2.0
// What persists (stores made durable by flushes and a fence) take on a memory, and how much one of them is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/persist_lines.h"
#include "tier/tier.h"

namespace nvmemu {

// How much is made durable at once: lines that are flushed, and the blocks of the medium that they touch.
struct PersistSize {
  std::uint64_t lines = 0, blocks = 0;
};

// Two stages: lines go into the memory's queue one after the other, and the medium takes them out of it by
// blocks of its own, whole ones. All in ns.
struct PersistTarget {
  double first_ns = 0;  // from a persist's begin until its first line is durable; 0: they are counted only
  double line_ns = 0;   // and each further line
  // Of a memory that is waited for until the line is in it: what this machine's fence waits for anyhow. Below
  // 0: the thread goes on meanwhile.
  double own_ns = -1;
  double block_ns = 0;  // what the medium takes for a block; 0: it keeps up
  double queue_ns = 0;  // and for all that the queue holds
  std::size_t block_bytes = kCacheLineBytes;
  TierId tier = 0;  // whose medium it is: all threads' writes to it go at its bandwidth together

  // From a persist's begin until it is durable, where the queue has room.
  double durable_after_ns(double lines) const noexcept {
    return first_ns + std::max(0.0, lines - 1) * line_ns;
  }
  bool has_bandwidth() const noexcept { return line_ns > 0; }
  // How long the medium, or what it is filled through, is busy with that: 0 where it keeps up.
  double busy_ns(double lines, double blocks) const noexcept {
    return block_ns > 0 ? blocks * block_ns : lines * line_ns;
  }
};

// Lines that are flushed, until they are waited for. Flushes that follow each other in a block of the medium
// are one write of it, as the medium's buffer has it. Zeros are a valid state.
class FlushedLines {
 public:
  void add(const void* address, std::size_t bytes, std::size_t block_bytes) noexcept {
    if (bytes == 0) return;
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    const std::uintptr_t first = begin / block_bytes, last = (begin + bytes - 1) / block_bytes;
    size_.lines += lines_of(address, bytes);
    size_.blocks += last - first + (has_block_ && first == block_ ? 0 : 1);
    has_block_ = true;
    block_ = last;
  }
  bool empty() const noexcept { return size_.lines == 0; }
  PersistSize take() noexcept {
    const PersistSize taken = size_;
    size_ = {};
    return taken;
  }

 private:
  PersistSize size_;
  std::uintptr_t block_ = 0;  // the last that was flushed, also before the last fence
  bool has_block_ = false;
};

}  // namespace nvmemu
