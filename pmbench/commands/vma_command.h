// SPDX-License-Identifier: Apache-2.0
// `pmbench vma`
#pragma once

#include <string>
#include <vector>

#include "areas/vma_result.h"
#include "base/result.h"

namespace nvmemu::pmbench {

struct VmaCommandLine {
  VmaOptions options;
  std::string help;  // asked for: print it, do nothing else
};

// `arguments`: without the subcommand's name. An error names the option that is wrong.
Result<VmaCommandLine> parse_vma_command_line(std::vector<std::string> arguments);

// `argv[0]` is the subcommand's own name, `command` the whole command line, for the record. Returns what the
// process shall exit with: 0, interrupted too; 1 where something failed; 2 where an option is wrong, or the
// machine has not what they need.
int vma_main(int argc, char** argv, const std::vector<std::string>& command);

}  // namespace nvmemu::pmbench
