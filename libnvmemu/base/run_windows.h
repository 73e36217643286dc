// SPDX-License-Identifier: Apache-2.0
// For programs that print by themselves how fast they were in windows with delays and without (`nvmemu run
// --alternate`).
#pragma once

#include <cstdint>
#include <vector>

namespace nvmemu {

struct RunWindow {
  bool has_delays = false;
  double seconds = 0;          // wall time
  std::uint64_t progress = 0;  // what was told of in it, by all threads and processes

  double per_second() const { return seconds > 0 ? static_cast<double>(progress) / seconds : 0; }
};

// Those that are over, from the first on that the program had work in from its beginning: the one in which it
// told of its first is left out. Empty where nothing alternates. Any thread.
std::vector<RunWindow> run_windows();

// What a second of those with delays, or without, got done.
std::vector<double> rates_of(const std::vector<RunWindow>& windows, bool has_delays);

}  // namespace nvmemu
