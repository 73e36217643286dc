// SPDX-License-Identifier: Apache-2.0
// Runs whose outcomes the test gives, and which keep what was asked for.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "suite/runs.h"

namespace nvmemu::suite {

inline Measured run_of(double seconds, std::string checksum = "same") {
  Measured measured;
  measured.seconds = seconds;
  measured.checksum = std::move(checksum);
  measured.critical_loads = 1e6;
  measured.base_ns = 200;
  return measured;
}

class FakeRuns final : public Runs {
 public:
  Result<Measured> native(const Experiment& experiment, const Placement& placement) override {
    asked.push_back(placement.memory_node ? "native on " + std::to_string(*placement.memory_node) : "native");
    experiments.push_back(experiment);
    return on_native(placement);
  }
  Result<Measured> emulated(const Experiment& experiment, const Placement& placement,
                            const Emulation& emulation) override {
    asked.push_back(placement.memory_node ? "emulated on " + std::to_string(*placement.memory_node)
                                          : "emulated");
    experiments.push_back(experiment);
    emulations.push_back(emulation);
    return on_emulated(emulation);
  }
  Result<Counted> twin(const Experiment&) override {
    asked.emplace_back("twin");
    return on_twin();
  }

  std::function<Result<Measured>(const Placement&)> on_native = [](const Placement&) { return run_of(1); };
  std::function<Result<Measured>(const Emulation&)> on_emulated = [](const Emulation&) { return run_of(1); };
  std::function<Result<Counted>()> on_twin = [] { return Counted{1e6, 2e6, 220, "same"}; };
  std::vector<std::string> asked;
  std::vector<Experiment> experiments;
  std::vector<Emulation> emulations;
};

inline Experiment experiment_of(Truth truth, std::vector<double> targets_ns = {500}) {
  Experiment experiment;
  experiment.truth = truth;
  experiment.name = "work";
  experiment.targets_ns = std::move(targets_ns);
  return experiment;
}

}  // namespace nvmemu::suite
