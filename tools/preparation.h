// SPDX-License-Identifier: Apache-2.0
// All that `nvmemu run` finds out before the command starts.
#pragma once

#include <string>
#include <vector>

#include "machine.h"
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
};

// What is cheap to check comes first: a mistyped option costs no calibration.
tl::expected<Prepared, Refusal> prepare(const RunOptions& options, const std::vector<std::string>& command,
                                        TemporaryFiles& temporary);

}  // namespace nvmemu
