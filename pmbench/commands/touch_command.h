// SPDX-License-Identifier: Apache-2.0
// `pmbench touch` and `pmbench kswapd`
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "touch/touch_result.h"

namespace nvmemu::pmbench {

struct TouchCommandLine {
  TouchOptions options;
  std::string help;  // asked for: print it, do nothing else
};

// `arguments`: without the subcommand's name. An error names the option that is wrong.
Result<TouchCommandLine> parse_touch_command_line(std::vector<std::string> arguments);
Result<TouchCommandLine> parse_kswapd_command_line(std::vector<std::string> arguments);

// See vma_main().
int touch_main(int argc, char** argv, const std::vector<std::string>& command);
int kswapd_main(int argc, char** argv, const std::vector<std::string>& command);

}  // namespace nvmemu::pmbench
