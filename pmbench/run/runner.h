// SPDX-License-Identifier: Apache-2.0
// One run, from the options to what it found.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "run/options.h"
#include "run/result.h"
#include "run/stop.h"

namespace nvmemu::pmbench {

// What is shown while it runs: what it does now, and the last point of the series, null before there is one.
struct RunStatus {
  const char* doing;  // "filling", "warming up", "measuring"
  const SeriesPoint* point = nullptr;
};
using ShowStatus = std::function<void(const RunStatus&)>;

// `options` must be checked (see command_line.h). Asked to stop, it ends early with what it has by then. What
// it changes on the machine is as it was when it returns.
Result<RunResult> run(const Options& options, const Stop& stop, const ShowStatus& show = {});

}  // namespace nvmemu::pmbench
