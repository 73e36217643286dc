// SPDX-License-Identifier: Apache-2.0
// All that `nvmemu run` and `nvmemu record` find out before the command starts.
#pragma once

#include <string>
#include <vector>

#include "machine.h"
#include "model/model_table.h"
#include "plan/source_plan.h"
#include "resolve.h"
#include "run_files.h"
#include "run_options.h"

namespace nvmemu {

struct Prepared {
  RunRequest request;
  std::string path;     // of the command
  std::string library;  // libnvmemu-preload.so's path
  Machine machine;
  double target_ns = 0;
  BandwidthTarget bandwidth;  // as far as it is below what this machine moves
  SourcePlan source;
  std::string verdict_file;      // of "pmu": what says that its counters are to be trusted
  std::string replay;            // of "replay": the record's path, from the root
  const Model* model = nullptr;  // null where the program is to run natively
  std::string record;            // where to keep the counts; empty: nowhere

  bool is_native() const { return source.name == "none"; }
};

// `request`: what check_options() made of `options`. What is cheap to check comes first: a mistyped option
// costs no calibration.
tl::expected<Prepared, Refusal> prepare(const RunOptions& options, const Result<RunRequest>& request,
                                        const std::vector<std::string>& command, TemporaryFiles& temporary);

}  // namespace nvmemu
