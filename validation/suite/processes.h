// SPDX-License-Identifier: Apache-2.0
// Experiments as processes: the programs of validation/, natively and under `nvmemu run`.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "suite/child.h"
#include "suite/runs.h"

namespace nvmemu::suite {

struct ProcessOptions {
  std::string nvmemu;       // the tool's path
  std::string programs;     // the folder of nvmemu-chase and the others
  std::string folder;       // for reports; it exists
  double threshold_ns = 0;  // of the twins: what takes longer comes from memory
  // XDG_CACHE_HOME with a calibration whose memory is this machine's last-level cache.
  std::string cache_as_memory;
  std::vector<int> cpus;  // that may be used; at least one
  std::map<int, std::vector<int>> cpus_of_node;
};

class ProcessRuns final : public Runs {
 public:
  explicit ProcessRuns(ProcessOptions options) : options_(std::move(options)) {}

  Result<Measured> native(const Experiment& experiment, const Placement& placement) override;
  Result<Measured> emulated(const Experiment& experiment, const Placement& placement,
                            const Emulation& emulation) override;
  Result<Counted> twin(const Experiment& experiment) override;

 private:
  struct Finished {
    ChildOutcome child;
    std::optional<double> share_on_node;
  };

  std::vector<std::string> words_of(const Experiment& experiment) const;
  ChildOptions child_options(const Experiment& experiment, const Placement& placement) const;
  Result<Finished> run(const std::vector<std::string>& words, const Experiment& experiment,
                       const Placement& placement) const;

  ProcessOptions options_;
};

// What says to nvmemu run what is emulated. For tests.
std::vector<std::string> memory_options_of(const Experiment& experiment, double target_ns);

// What a program printed, as JSON. `emulated`: as it must say of itself; a program that ran otherwise than it
// should have is an error. For tests.
Result<Measured> parse_figures(const Experiment& experiment, const std::string& json, bool emulated);

}  // namespace nvmemu::suite
