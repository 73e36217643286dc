// SPDX-License-Identifier: Apache-2.0
// Some of the lines that a walk has fetched from memory, evenly spread over it. The program comes by them
// next: touched once more at the walk's end, they tell how much of a miss it will wait for all the same, as
// a line is no longer where it was put, or its address has to be translated anew. (Of what was read 1000
// loads before, by a chase over 256 MiB in huge pages: 30 to 40 ns of 150, and 60 to 100 where eight
// processes share the processor.) Zeros are no valid state. Async-signal-safe, one thread's.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace nvmemu {

class FetchedLines {
 public:
  // What it waited for, in any unit.
  void add(std::uintptr_t address, double waited) noexcept {
    const std::size_t number = seen_++;
    if (number % stride_ != 0) return;
    if (count_ == kKept) thin_out();
    if (number % stride_ == 0) lines_[count_++] = {address, waited};
  }

  // The part of its misses' time, 0 to 1, that the program is spared. `again`: what a touch of an address
  // waits for, in the unit of add().
  template <typename Again>
  double spared(Again&& again) const noexcept {
    double first = 0, later = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      first += lines_[i].waited;
      later += std::clamp(again(lines_[i].address), 0.0, lines_[i].waited);
    }
    return first > 0 ? 1 - later / first : 1;
  }

 private:
  static constexpr std::size_t kKept = 16;
  struct Line {
    std::uintptr_t address;
    double waited;
  };

  // Every other one from now on.
  void thin_out() noexcept {
    for (std::size_t i = 0; 2 * i < kKept; ++i) lines_[i] = lines_[2 * i];
    count_ = kKept / 2;
    stride_ *= 2;
  }

  std::size_t seen_ = 0, stride_ = 1, count_ = 0;
  std::array<Line, kKept> lines_;
};

}  // namespace nvmemu
