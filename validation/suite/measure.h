// SPDX-License-Identifier: Apache-2.0
// Runs an experiment: the truth and the emulation in turn, A B A B A, so that a drift of the machine falls on
// both.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "suite/row.h"
#include "suite/runs.h"

namespace nvmemu::suite {

struct MeasureOptions {
  unsigned rounds = 1, repeats = 0;
  std::function<void(std::string_view step)> progress = {};  // called before each run
  std::function<bool()> stop = {};                           // asked before each run; true: end here
  // Asked before each repetition of what was disturbed; false: there is no time left for it.
  std::function<bool()> may_repeat = {};
};

// A sample is disturbed where the native runs before and after it differ by more, or the host took more of a
// run's time. Its emulated run is then repeated, at most `repeats` times a row; it stays in the row's
// samples.
constexpr double kMostNativeSpread = 0.05;
constexpr double kMostStealShare = 0.02;

// Twins of overlapping accesses do this share of the operations: they are slow, and only bounds follow from
// them.
constexpr double kTwinShareOfOverlapping = 1.0 / 16;

// What is emulated where the truth is a run on other memory.
struct SlowerMemory {
  Placement own, slower;  // where the emulated run is, and where the truth
  double base_ns = 0, target_ns = 0;
  bool cache_is_base = false;
};

// A row for each target, against native time and what the loads take longer: Truth::kPerAccess, and
// closed forms.
std::vector<Row> measure_added(Runs& runs, const Experiment& experiment, const MeasureOptions& options);

// One row, against the same program on slower memory: Truth::kNuma, and with Experiment::slower_arguments for
// the truth's runs kCacheTier.
Row measure_slower(Runs& runs, const Experiment& experiment, const SlowerMemory& memory,
                   const MeasureOptions& options);

}  // namespace nvmemu::suite
