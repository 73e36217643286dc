// SPDX-License-Identifier: Apache-2.0
// A command with the library in it, from its start to what is known of it at its end.
#pragma once

#include <string>
#include <vector>

#include "preparation.h"
#include "report/run_report.h"
#include "run_files.h"
#include "run_options.h"

namespace nvmemu {

struct Emulated {
  RunReport report;  // with its exit status
  bool all_ended;    // no process of it runs any more
};

// Runs it as `nvmemu run` and `nvmemu record` do. From then on nobody who reads stderr is counted on.
tl::expected<Emulated, Refusal> emulate(const RunOptions& options, const Prepared& prepared,
                                        const std::vector<std::string>& command, TemporaryFiles& temporary);

// A command that will not be run: why, on stderr, and what to exit with.
int refuse(const Refusal& refusal);

}  // namespace nvmemu
