// SPDX-License-Identifier: Apache-2.0
// One run, from the options to what it found.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "run/options.h"
#include "run/result.h"
#include "run/stop.h"

namespace nvmemu::pmbench {

struct Progress {
  const char* doing;  // "filling", "warming up", "measuring"
  double elapsed_s = 0, total_s = 0;
  std::uint64_t accesses = 0;
};
using ShowProgress = std::function<void(const Progress&)>;

// `options` must be checked (see command_line.h). Asked to stop, it ends early with what it has by then. What
// it changes on the machine is as it was when it returns.
Result<RunResult> run(const Options& options, const Stop& stop, const ShowProgress& show = {});

}  // namespace nvmemu::pmbench
