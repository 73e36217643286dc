// SPDX-License-Identifier: Apache-2.0
// The figures of a calibration that take some tens of milliseconds each.
#pragma once

#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "host/calibrate.h"
#include "host/chase_buffer.h"
#include "host/cpu.h"

namespace nvmemu {

// What neighbours do lasts for seconds, too, and all of such a figure would fall into one: memory that is
// twice as slow for a while makes a threshold of 160 ns of one of 105, and half of what comes from memory is
// then taken for hits. So each is measured a little at a time, between the steps of a calibration.
class RecurringFigures {
 public:
  static Result<RecurringFigures> create(const Cpu& cpu, const Clock& clock);

  // Each once more, some 0.1 s; `to` gets what all so far say, and `measured`, where it is set, their
  // spreads.
  Result<void> measure(Calibration& to, const Measured& measured);

 private:
  RecurringFigures(const Clock& clock, ChaseBuffer&& cached) : clock_(clock), cached_(std::move(cached)) {}

  void add_cache_latencies();
  Result<void> add_memory();

  const Clock& clock_;
  ChaseBuffer cached_;  // fits into the last-level cache
  std::vector<double> cache_latencies_, overheads_, thresholds_, short_chases_, timers_, persists_;
};

}  // namespace nvmemu
