// SPDX-License-Identifier: Apache-2.0
// A thread's figures, copied off the board once and looked at: whatever else is there is left out of reports.
#pragma once

#include <cstdint>
#include <optional>

#include "report/run_report.h"

namespace nvmemu {

struct ThreadFigures : ThreadReport {
  std::uint32_t process = 0;  // index of its BoardProcess; may be that of none
  double user_ns = 0;
};

// Nothing where a figure is none that a thread could have had: negative, not finite, or of more than 30
// years.
std::optional<ThreadFigures> read_figures(const BoardThread& thread);

// The bytes of a field up to the first zero, or to its end.
template <std::size_t kBytes>
std::string text_of(const char (&field)[kBytes]) {
  std::size_t length = 0;
  while (length < kBytes && field[length] != '\0') ++length;
  return {field, length};
}

}  // namespace nvmemu
