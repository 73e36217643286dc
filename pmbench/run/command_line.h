// SPDX-License-Identifier: Apache-2.0
// pmbench's command line: the original's options by their names and meanings, and ours.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "run/options.h"

namespace nvmemu::pmbench {

struct CommandLine {
  Options options;
  std::string help;  // asked for: print it, do nothing else
};

// `arguments`: without the program's name. An error names the option that is wrong.
Result<CommandLine> parse_command_line(std::vector<std::string> arguments);

// What no option shows alone: that they go together, and that patterns and policies exist. Fills in what
// follows from others: the phases' times, contents that --compressible implies.
Result<void> check_options(Options& options);

// "uniform:10s,zipf@0.99:20s,hotspot:80:20:5s": patterns as -p takes them, a shape after '@', a time after
// the last colon. Phases without a shape have `shape`.
Result<std::vector<Phase>> parse_phases(std::string_view text, const Phase& shape);

}  // namespace nvmemu::pmbench
