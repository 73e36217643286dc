// SPDX-License-Identifier: Apache-2.0
// What the kernel tells of the calling thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace nvmemu::preload {

// The hexadecimal number after that name in /proc/thread-self/status (proc(5)): "CapEff". Nothing where that
// cannot be read, or may not. Async-signal-safe, and needs little of the stack.
std::optional<std::uint64_t> thread_status(std::string_view name) noexcept;

// How that is found, piece by piece. Of a line only the beginning counts: "Groups" can be as long as it
// likes.
class StatusSearch {
 public:
  explicit StatusSearch(std::string_view name) noexcept : name_(name) {}

  // Whether the number is found by now: nothing more is to be taken then.
  bool take(std::string_view piece) noexcept;
  std::uint64_t number() const noexcept { return number_; }

 private:
  void append(char c) noexcept;
  bool ends_line() noexcept;

  std::string_view name_;
  char line_[64]{};
  std::size_t length_ = 0;
  std::uint64_t number_ = 0;
};

}  // namespace nvmemu::preload
