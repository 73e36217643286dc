// SPDX-License-Identifier: Apache-2.0
// How far a run is, on one line of a terminal that is written over each second.
#pragma once

#include <cstdio>
#include <string>

#include "run/result.h"

namespace nvmemu::pmbench {

// "[#####.....]  12 / 60 s  812 k accesses/s  p50 120 ns  p99 14 us  8123 major faults/s", at most `columns`
// wide.
std::string progress_line(const SeriesPoint& point, double duration_s, std::size_t columns);

// Writes nothing where `stream` is no terminal or the run is to be quiet.
class Progress {
 public:
  Progress(std::FILE* stream, double duration_s, bool quiet);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  void show(const SeriesPoint& point);
  // Takes the line away, for what is printed next.
  void clear();

 private:
  std::FILE* stream_;
  double duration_s_;
  bool enabled_;
  bool shown_ = false;
};

}  // namespace nvmemu::pmbench
