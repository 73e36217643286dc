// SPDX-License-Identifier: Apache-2.0
// Which places of the store are in use, and by which page. Which is taken is a layout's to say
// (page_layout.h). Not thread-safe; async-signal-safe.
#pragma once

#include <cstdint>

namespace nvmemu {

struct SlotRange {
  std::uint64_t begin = 0, end = 0;  // up to, not including
  bool empty() const noexcept { return begin >= end; }
};

class Slots {
 public:
  static constexpr std::uint64_t kNone = 0;  // no slot has this number

  constexpr Slots() noexcept = default;
  // Room for `most`, noted in memory of which what is used is touched. False where there is none.
  bool open(std::uint64_t most) noexcept;
  void close() noexcept;

  // One that is free, for `page`.
  void take(std::uint64_t slot, std::uint64_t page) noexcept;
  // False where it was not in use.
  bool give_back(std::uint64_t slot) noexcept;
  bool is_used(std::uint64_t slot) const noexcept { return (words_[slot / 64] >> (slot % 64) & 1) != 0; }

  // Of one in use: whose it is.
  std::uint64_t owner(std::uint64_t slot) const noexcept { return owners_[slot]; }
  void set_owner(std::uint64_t slot, std::uint64_t page) noexcept { owners_[slot] = page; }

  // The first from `from` to before `end`; kNone where there is none.
  std::uint64_t next_free(std::uint64_t from, std::uint64_t end) const noexcept {
    return next<false>(from, end);
  }
  std::uint64_t next_used(std::uint64_t from, std::uint64_t end) const noexcept {
    return next<true>(from, end);
  }

  std::uint64_t used() const noexcept { return used_; }
  std::uint64_t highest() const noexcept { return highest_; }  // that was ever taken
  std::uint64_t end() const noexcept { return end_; }          // no slot has this number, or a higher one

 private:
  template <bool kUsed>
  std::uint64_t next(std::uint64_t from, std::uint64_t end) const noexcept;

  std::uint64_t* words_ = nullptr;
  std::uint64_t* owners_ = nullptr;
  std::uint64_t end_ = 0, used_ = 0, highest_ = 0;
};

}  // namespace nvmemu
