// SPDX-License-Identifier: Apache-2.0
// Where, on nvmemu's command line, another program's begins.
#pragma once

#include <string>
#include <vector>

#include "arguments/parser.h"

namespace nvmemu {

// Takes the command that `nvmemu run`, or another subcommand like it, shall run off the end of `arguments`
// (nvmemu's own, without its name) and returns it: what follows the first "--", or else the first argument
// that is neither an option of `run` nor an option's value. Empty where there is none, or the subcommand is
// not `run`. The parser never sees the command, and so cannot take its options, brackets or words for its
// own.
std::vector<std::string> cut_off_command(const Parser& run, std::vector<std::string>& arguments);

// Takes what follows the first "--" off the end of `arguments`, the "--" too, and returns it: for subcommands
// that take a command only so.
std::vector<std::string> cut_off_after_dashes(std::vector<std::string>& arguments);

// Help of such a subcommand: the parser knows nothing of what follows the options, and takes a subcommand's
// one line for all of its description.
void describe_command(Parser& subcommand, const std::string& description);

}  // namespace nvmemu
