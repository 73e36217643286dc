// SPDX-License-Identifier: Apache-2.0
// How experiments run: the seam at which tests put results of their own.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "suite/experiment.h"
#include "suite/measured.h"

namespace nvmemu::suite {

// Where a run's threads and memory are; nothing: wherever the caller's are.
struct Placement {
  std::optional<int> cpu_node, memory_node;
  std::optional<int> other_memory_node = {};  // where every other page is; nothing: all are on `memory_node`
};

// What is emulated.
struct Emulation {
  double target_ns = 0;
  std::optional<double> base_ns;  // given, not measured at the start
  bool cache_is_base = false;     // the base is the last-level cache: loads that hit it are slowed
};

class Runs {
 public:
  virtual ~Runs() = default;
  // An error says why there are no figures: a run that fails is a result too.
  virtual Result<Measured> native(const Experiment& experiment, const Placement& placement) = 0;
  virtual Result<Measured> emulated(const Experiment& experiment, const Placement& placement,
                                    const Emulation& emulation) = 0;
  // Of Program::kWorkload.
  virtual Result<Counted> twin(const Experiment& experiment) = 0;
};

}  // namespace nvmemu::suite
