// SPDX-License-Identifier: Apache-2.0
// The pages that are in DRAM, in the order in which they came: what eviction chooses from. Not thread-safe;
// async-signal-safe.
#pragma once

#include <cstdint>

namespace nvmemu {

struct Frame {
  std::uint64_t page;
  std::uint64_t slot;  // where the store has the same, kNoSlot: nowhere
  std::uint32_t previous, next;
  std::uint32_t staged_at;  // where it lies in the staging area, of a page that is staged
  bool was_of_use;          // since it came, or since eviction passed it over
};

// A doubly linked list in a table of frames, with those that are free in another.
class Frames {
 public:
  using Number = std::uint32_t;
  static constexpr Number kNone = 0;  // no frame has this number

  // Room for `most` in addresses, of which what is used is touched. False where there is none.
  bool open(std::uint64_t most) noexcept;
  void close() noexcept;

  // A frame for `page`, the youngest; kNone where there is no room.
  Number add(std::uint64_t page, std::uint64_t slot) noexcept;
  // It is free from now on.
  void remove(Number number) noexcept;
  // It is no candidate any more, but keeps its number, until it is made the youngest or removed.
  void take_out(Number number) noexcept;
  void make_youngest(Number number) noexcept;

  Number oldest() const noexcept { return frames_[kNone].next; }
  Number highest() const noexcept { return used_; }  // that was ever a frame's
  bool is_listed(Number number) const noexcept { return frames_[number].previous != number; }
  Frame& operator[](Number number) noexcept { return frames_[number]; }
  const Frame& operator[](Number number) const noexcept { return frames_[number]; }
  std::uint64_t listed() const noexcept { return listed_; }

 private:
  void link_last(Number number) noexcept;

  Frame* frames_ = nullptr;  // that of kNone is the list's two ends
  std::uint64_t most_ = 0;
  Number used_ = 0, free_ = kNone;
  std::uint64_t listed_ = 0;
};

}  // namespace nvmemu
