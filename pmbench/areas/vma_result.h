// SPDX-License-Identifier: Apache-2.0
// What `pmbench vma` was asked for, and what it found. Plain data: output/ writes and reads it, report/
// compares it. Times in nanoseconds.
#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "areas/area_pattern.h"
#include "measure/histogram.h"
#include "memory/slab.h"
#include "run/result.h"
#include "system/memory_management.h"

namespace nvmemu::pmbench {

struct VmaOptions {
  std::vector<AreaPatternKind> patterns;
  std::uint64_t operations = 60'000;
  bool touch = true, unmap = true, fork = false;  // after the pattern's own operations
  unsigned rounds = 5;
  std::uint64_t seed = 1;
  bool raise_limit = false;
  unsigned faulters = 0;
  bool quiet = false;
  std::string json_file;
};

// Operations with about as many before them.
struct AreaBand {
  std::uint64_t from = 0, to = 0;               // done before the first and with the last of them
  std::uint64_t areas = 0;                      // more than before, with the last of them
  double median_ns = 0;                         // of the rounds' medians
  double mean_ns = 0, p99_ns = 0, p999_ns = 0;  // of all rounds' operations together
  std::uint64_t max_ns = 0;
  std::vector<double> round_medians_ns;
};

// a + b log2(n / 1024) of the medians, by least squares in each round: the means of the rounds, and half the
// width of b's 95 % confidence interval (Student's t), which one round alone has not.
struct SlopeFit {
  double a_ns = 0;  // at 1,024 operations
  double b_ns = 0;  // more with each doubling
  std::optional<double> b_half_width_95;
};

struct AreaCall {
  std::string name;  // mmap, mremap, touch, munmap, fork
  std::vector<AreaBand> bands;
  std::optional<SlopeFit> fit;
  LatencyCounts latencies;  // of all rounds
};

struct VmaCase {
  AreaPatternKind pattern = AreaPatternKind::kCont;
  std::vector<AreaCall> calls;
  // More areas than before the first operation: the median of the rounds.
  std::uint64_t areas_half_way = 0, areas_at_end = 0;
  SlabSource bytes_source = SlabSource::kNone;
  std::optional<double> bytes_per_area;  // none where there are too few areas to tell
  double unmap_all_ns = 0;               // the median
  unsigned rounds = 0;                   // that were finished
};

// Page faults of other threads in areas of their own, by themselves and while a pattern's operations go on.
struct FaulterResult {
  std::optional<AreaPatternKind> beside;  // none: by themselves
  double seconds = 0;
  LatencyCounts faults;
};

struct VmaResult {
  std::string version;
  std::vector<std::string> command;
  VmaOptions options;
  MachineInfo machine;
  MemoryManagement management;
  std::tm started{};  // UTC
  bool interrupted = false;
  double timer_ns = 0;  // what two time stamps take; already subtracted
  std::vector<VmaCase> cases;
  std::vector<FaulterResult> faulters;
  std::vector<std::string> warnings;
};

}  // namespace nvmemu::pmbench
