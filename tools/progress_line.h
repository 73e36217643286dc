// SPDX-License-Identifier: Apache-2.0
// What a measurement that takes long is at.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <string_view>

namespace nvmemu {

// One line that each step overwrites, for someone who watches; nobody reads it in a log.
class ProgressLine {
 public:
  ProgressLine() : shown_(isatty(STDERR_FILENO) != 0) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(std::string_view step, double done) const {
    if (shown_) fmt::print(stderr, "\r\033[Knvmemu: {:3.0f} %  {}", 100 * done, step);
  }
  void clear() const {
    if (shown_) fmt::print(stderr, "\r\033[K");
  }

 private:
  bool shown_;
};

}  // namespace nvmemu
