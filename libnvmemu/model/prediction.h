// SPDX-License-Identifier: Apache-2.0
// From a record to the time that the run would have taken on another memory. Pure; allocates.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "counters/record/record_reader.h"
#include "model/critical_path.h"
#include "model/latency_model.h"
#include "model/placed_memory.h"

namespace nvmemu {

struct Prediction {
  double native_ns = 0;  // wall time as recorded, less what measuring cost
  Lengthening delay;     // by the emulated memory; see critical_path.h for what is assumed of several threads

  double wall_ns() const { return native_ns + delay.expected_ns; }
  double slowdown() const { return native_ns > 0 ? wall_ns() / native_ns : 1; }
};

// `slow`: what part of each process's waits is for tier 1, the rest being for tier 0 (ReadLatency).
Prediction predict(const Record& record, DelayModel model, const ReadLatency& latency,
                   const SlowShare& slow = {});

// How sure the delays are, whatever the target.
struct PredictionError {
  std::optional<double> relative_95;  // of a delay: half the width of the 95 % confidence interval
  std::string from;                   // what that rests on
};

PredictionError prediction_error(const Record& record);

// Half the width of the 95 % confidence interval of a prediction's delay, ns: of two memories, also by how
// sure it is which is waited for.
std::optional<double> delay_error_ns(const Record& record, DelayModel model, const ReadLatency& latency,
                                     const SlowShare& slow = {});

struct RecordTotals : Quantities {
  std::uint64_t threads = 0;
};

RecordTotals totals_of(const Record& record);

}  // namespace nvmemu
