// SPDX-License-Identifier: Apache-2.0
// Which places of the store are in use. Pages that are written together lie side by side wherever there is
// room: the search goes on where the last one ended, and begins anew at the end. Not thread-safe;
// async-signal-safe.
#pragma once

#include <cstdint>

namespace nvmemu {

class Slots {
 public:
  static constexpr std::uint64_t kNone = 0;  // no slot has this number

  // Room for `most`, noted in memory of which what is used is touched. False where there is none.
  bool open(std::uint64_t most) noexcept;
  void close() noexcept;

  // The next free one; kNone where all are in use.
  std::uint64_t take() noexcept;
  void give_back(std::uint64_t slot) noexcept;
  bool is_used(std::uint64_t slot) const noexcept { return (words_[slot / 64] >> (slot % 64) & 1) != 0; }

  std::uint64_t used() const noexcept { return used_; }
  std::uint64_t highest() const noexcept { return highest_; }  // that was ever taken

 private:
  std::uint64_t next_free(std::uint64_t from, std::uint64_t end) const noexcept;

  std::uint64_t* words_ = nullptr;
  std::uint64_t end_ = 0, next_ = 1, used_ = 0, highest_ = 0;
};

}  // namespace nvmemu
