// SPDX-License-Identifier: Apache-2.0
// Measures the curve of a node: the bandwidth at one value of its registers after the other.
#pragma once

#include <functional>
#include <vector>

#include "base/result.h"
#include "host/statistics.h"
#include "throttle/curve.h"
#include "throttle/thermal_throttle.h"

namespace nvmemu {

struct SweepOptions {
  std::vector<int> values = default_values();
  // Bytes a second that STREAM's copy moves by the processors and in the memory of a node.
  std::function<Result<Figure>(int node)> measure;
  // Before each point: its value, and the share that is done.
  std::function<void(int value, double done)> progress;
  // Asked before each point: true ends the sweep.
  std::function<bool()> stop;

  // Close together where a DIMM's commands are what limits, up to 640 a microsecond (20 GB/s and an
  // activation for every other line), and no limit at all.
  static std::vector<int> default_values();
};

// The registers hold what they held before when it returns, whatever it returns.
Result<Curve> sweep(ThermalThrottle& throttle, int node, const SweepOptions& options);

}  // namespace nvmemu
