// SPDX-License-Identifier: Apache-2.0
// When a file system's journal has what one waits for: one commit at a time, shared by all who ask before it
// begins. Time is passed in. Pure; not thread-safe; zeros are a journal in which nothing is under way.
#pragma once

#include <cstdint>

namespace nvmemu {

class Journal {
 public:
  // Whether the last commit is still to begin at `now_ns`, and so has what is asked for by then.
  bool is_to_begin(std::uint64_t now_ns) const noexcept { return now_ns <= begin_ns_ && end_ns_ > 0; }
  void begin(std::uint64_t begin_ns, std::uint64_t end_ns) noexcept {
    begin_ns_ = begin_ns;
    end_ns_ = end_ns;
  }
  // Of the last one that was asked for; the next one begins no earlier.
  std::uint64_t end_ns() const noexcept { return end_ns_; }

 private:
  std::uint64_t begin_ns_ = 0, end_ns_ = 0;
};

}  // namespace nvmemu
