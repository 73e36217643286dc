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

struct CalibrateOptions {
  int repetitions = 5;            // of each figure; the median counts
  bool bandwidth = true;
  Progress progress;
};

// Everything in Calibration, in about 10 s. Fails where memory for the chase cannot be had.
Result<Calibration> calibrate(const Cpu& cpu, const Clock& clock, const CalibrateOptions& options = {});

// The base latency now: the calibrated one, scaled by what the short chase takes today against what it took then.
// Within 25 ms, and 32 MiB for that long. The cached figure is a starting point only: on a shared machine it drifts by
// 10 to 20 % within minutes.
struct Refresh {
  double base_latency_ns;
  double short_chase_ns;
  double spread;   // of the short chase's repetitions, (largest - smallest) / median
};
Result<Refresh> refresh_base_latency(const Calibration& calibration, const Clock& clock);

}  // namespace nvmemu
