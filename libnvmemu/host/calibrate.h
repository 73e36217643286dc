// SPDX-License-Identifier: Apache-2.0
// Measures this machine's memory.
#pragma once

#include <functional>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "host/calibration.h"
#include "host/cpu.h"

namespace nvmemu {

// Called before each step: what is measured now, and the share that is done, 0 to 1.
using Progress = std::function<void(std::string_view step, double done)>;

// Called after each figure: its key as in the stored calibration ("base_latency_ns"), and the spread of its
// repetitions, (largest - smallest) / median.
using Measured = std::function<void(std::string_view key, double spread)>;

struct CalibrateOptions {
  int repetitions = 5;    // of each figure, at least 1; the median counts
  bool bandwidth = true;  // false: bandwidths stay zero, not measured
  Progress progress;
  // For what layers above this one measure: called three times, some seconds apart, while the memory of the
  // base chase is mapped, with the figures so far and a line of the cycle.
  std::function<void(Calibration&, const void* line)> on_chase;
  Measured measured;
};

// Everything in Calibration, in about 10 s. Fails where memory for the chase cannot be had. Takes SIGRTMAX
// while it measures what that costs: for single-threaded tools.
Result<Calibration> calibrate(const Cpu& cpu, const Clock& clock, const CalibrateOptions& options = {});

// The base latency now: the calibrated one, scaled by what the short chase takes today against what it took
// then. Takes 20 ms, and 32 MiB for that long; up to 100 ms in a virtual machine whose host first has to find
// that memory. The cached figure is a starting point only: on a shared machine it drifts by 10 to 20 % within
// minutes. How a change is weighed against the wobble of its measurement: drift.h.
struct Refresh {
  double base_latency_ns;
  double short_chase_ns;
  double spread;  // of the short chase's repetitions, (largest - smallest) / median
};
Result<Refresh> refresh_base_latency(const Calibration& calibration, const Clock& clock);

}  // namespace nvmemu
