// SPDX-License-Identifier: Apache-2.0
// Memory as a walk sees it: the program's, with the walk's own stores laid over it. The first touch of each
// line is timed; later ones find it in a cache, and some are timed to tell in which.
//
// Half a megabyte, of which zeros are a valid state: to lie in memory mapped for it, touched as walks need
// it: what they use themselves takes the place of what the program has in its caches, page tables too, which
// the walk would then find slower than they were. Async-signal-safe, one thread's.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>

#include "walk/decode/micro_op.h"
#include "walk/program_memory.h"

namespace nvmemu {

// First touches of one instruction.
struct Touches {
  std::uint64_t load_ticks = 0;   // of the slowest
  std::uint64_t again_ticks = 0;  // of a later touch; 0: not timed, as most are
  std::uint64_t store_ticks = 0;  // of lines fetched because part of them is stored
  std::uint16_t loads = 0;
  std::uint16_t stores = 0;
};

class WalkMemory {
 public:
  // Before the first: what any address may lead to is touched all over soon.
  void make_pages() noexcept;
  // A new walk: nothing is stored, no line was touched. `is_long`: it may touch more than some thousand.
  void begin(ProgramMemory& program, bool is_long = false) noexcept;
  // Of the program's, to whoever reads it otherwise than through this.
  bool is_untouchable(std::uintptr_t address) const noexcept { return program_->is_untouchable(address); }

  // `bytes` (1 to 64) as they are at `address`, to read until the next call. Null: see stop().
  const std::uint8_t* for_reading(std::uintptr_t address, std::size_t bytes) noexcept;
  // The same, to change in place; finish_writing() follows.
  std::uint8_t* for_writing(std::uintptr_t address, std::size_t bytes) noexcept;
  bool finish_writing() noexcept;

  // At most 8 bytes, as a number.
  bool read_value(std::uintptr_t address, std::uint64_t& value, std::size_t bytes) noexcept;

  // Any number of bytes; false: see stop().
  bool read(std::uintptr_t address, void* to, std::size_t bytes) noexcept;
  bool write(std::uintptr_t address, const void* from, std::size_t bytes) noexcept;

  // Large ones, which are kept as what they are: `bytes` from `to` on that repeat the first `width` bytes of
  // `value`; and `bytes` from `from`, which must not overlap.
  bool fill(std::uintptr_t to, std::uint64_t value, std::size_t width, std::size_t bytes) noexcept;
  bool copy(std::uintptr_t to, std::uintptr_t from, std::size_t bytes) noexcept;

  // Why the last call failed.
  WalkStop stop() const noexcept { return stop_; }

  // Since the last clear_touches().
  const Touches& touches() const noexcept { return touches_; }
  void clear_touches() noexcept { touches_ = {}; }

 private:
  static constexpr std::size_t kSlotBits = 13;
  static constexpr std::size_t kLines = 4096;  // half of the slots
  static constexpr std::size_t kTouchedPlaces = 4096, kTouchedPlacesOfLong = 32768;
  static constexpr std::size_t kFilterBits = 11;
  static constexpr std::size_t kNeighbours = 16;  // lines whose places are side by side
  static constexpr std::size_t kRanges = 8;
  static constexpr std::uint32_t kNoLine = ~std::uint32_t{0};

  struct Slot {
    std::uintptr_t line;
    std::uint32_t walk;
    std::uint32_t index;
  };
  // Whole lines, filled or copied at once.
  struct Range {
    std::uintptr_t begin, end;
    std::uintptr_t from;  // of a copy: what lies at `begin`
    std::uint64_t value;  // of a filling: what lies at `begin` and each `width` bytes behind it
    std::uint8_t width;   // 0: a copy
    bool holds(std::uintptr_t address) const noexcept { return address >= begin && address < end; }
    bool is_copy() const noexcept { return width == 0; }
  };

  bool fails(WalkStop why) noexcept;
  std::uint32_t& place_of(std::uintptr_t line) noexcept;
  bool touch(std::uintptr_t address, bool stores) noexcept;
  bool touch_again(std::uintptr_t address) noexcept;
  static std::size_t filter_place_of(std::uintptr_t line) noexcept;
  std::uint32_t find(std::uintptr_t line) const noexcept;
  std::uint32_t line_of(std::uintptr_t line, bool stores) noexcept;  // kNoLine: failed
  std::uint32_t add_line(std::uintptr_t line) noexcept;
  const Range* range_of(std::uintptr_t address) const noexcept;
  bool take_from(const Range& range, std::uintptr_t address, std::uint8_t* to) noexcept;
  bool save_copies_of(std::uintptr_t line) noexcept;
  bool add_range(const Range& range) noexcept;
  bool can_add(const Range& range) const noexcept;

  ProgramMemory* program_;
  std::uint32_t walk_;
  std::uint32_t lines_used_;
  std::uint32_t touched_again_;
  std::size_t touched_mask_;
  std::size_t ranges_used_;
  WalkStop stop_;
  Touches touches_;
  std::uintptr_t crossing_;  // where finish_writing() has to put what lies in bounce_, of so many bytes
  std::size_t crossing_bytes_;
  std::array<Range, kRanges> ranges_;
  std::bitset<std::size_t{1} << kFilterBits>
      may_be_stored_;  // by a line's hash: most are not, which need not be looked for
  alignas(64) std::uint8_t bounce_[2 * kLineBytes];
  alignas(64) std::uint8_t data_[kLines][kLineBytes];
  std::array<std::uintptr_t, kLines> line_of_data_;
  std::array<Slot, std::size_t{1} << kSlotBits> slots_;
  std::array<std::uint32_t, kTouchedPlacesOfLong> touched_;
};

}  // namespace nvmemu
