// SPDX-License-Identifier: Apache-2.0
// Where, on nvmemu's command line, another program's begins.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace nvmemu {

// Takes the command that `nvmemu run` shall run off the end of `arguments` (nvmemu's own, without its name)
// and returns it: what follows the first "--", or else the first argument that is neither an option of `run`
// nor an option's value. Empty where there is none, or the subcommand is not `run`. The parser never sees the
// command, and so cannot take its options, brackets or words for its own.
std::vector<std::string> cut_off_command(const CLI::App& run, std::vector<std::string>& arguments);

// Takes what follows the first "--" off the end of `arguments`, the "--" too, and returns it: for subcommands
// that take a command only so.
std::vector<std::string> cut_off_after_dashes(std::vector<std::string>& arguments);

}  // namespace nvmemu
