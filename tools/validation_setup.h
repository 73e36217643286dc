// SPDX-License-Identifier: Apache-2.0
// What `nvmemu validate` finds out before it runs anything.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "suite/catalogue.h"
#include "suite/processes.h"

namespace nvmemu {

struct ValidateOptions {
  bool quick = false, full = false, list = false;
  std::string truths, workloads, size, node_latencies, json, csv, svg, programs;
  double most_mean = 0, most_error = 0;  // per cent; 0: not judged
};

// A folder for what runs write, gone with this.
class WorkFolder {
 public:
  WorkFolder();
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  const std::string& path() const { return path_; }  // empty: it could not be made

 private:
  std::string path_;
};

// What validating starts from: the machine, the programs, what is to be run.
struct Validation {
  suite::Machine machine;
  suite::Plan plan;
  suite::ProcessOptions processes;
};

// `command`: what followed "--"; empty: nothing. `folder`: for what runs write, while they do. Calibrates the
// machine, in some 15 s, where that has not been done since it booted.
Result<Validation> prepare_validation(const ValidateOptions& options, const std::vector<std::string>& command,
                                      const std::string& folder);

}  // namespace nvmemu
