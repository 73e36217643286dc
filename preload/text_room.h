// SPDX-License-Identifier: Apache-2.0
// Text to a place that may be too small for it. Async-signal-safe.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "host/memory_nodes.h"

namespace nvmemu::preload {

class TextRoom {
 public:
  TextRoom(char* out, std::size_t capacity) : out_(out), capacity_(capacity) {}

  void add(std::string_view text) noexcept {
    const std::size_t fitting = std::min(text.size(), capacity_ - size_);
    std::copy_n(text.data(), fitting, out_ + size_);
    size_ += fitting;
    is_cut_ |= fitting < text.size();
  }
  void add(std::uint64_t number, int base = 10, std::size_t width = 1) noexcept {
    std::array<char, 20> digits;  // NOLINT(*-member-init): to_chars fills what is read
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, base).ptr;
    for (auto have = static_cast<std::size_t>(end - digits.data()); have < width; ++have) add("0");
    add({digits.data(), static_cast<std::size_t>(end - digits.data())});
  }
  // "0-1,3": a bit for each.
  void add_list(std::uint64_t numbers) noexcept {
    bool is_first = true;
    for_each_run_of_bits(numbers, [&](int first, int last) {
      if (!is_first) add(",");
      is_first = false;
      add(static_cast<std::uint64_t>(first));
      if (last == first) return;
      add("-");
      add(static_cast<std::uint64_t>(last));
    });
  }

  // 0 where there was too little room.
  std::size_t size() const noexcept { return is_cut_ ? 0 : size_; }
  std::string_view text() const noexcept { return {out_, size()}; }

 private:
  char* out_;
  std::size_t capacity_, size_ = 0;
  bool is_cut_ = false;
};

}  // namespace nvmemu::preload
