// SPDX-License-Identifier: Apache-2.0
// Which file a command is, and whether it can be emulated: found through PATH, scripts followed to their
// interpreters.
#pragma once

#include <string>

#include "base/result.h"
#include "subcommands.h"

namespace nvmemu {

// Why a command will not be run, and what nvmemu then exits with: kNotFound, kNotExecutable, or kNvmemuFailed
// where it could be run, but not emulated.
struct Refusal {
  ExitStatus exit_status;
  Error error;
};

// The file to execute for `command`: that file where it holds a '/', else the first executable one of that
// name in $PATH. The file, and where it is a script its interpreter too (through env(1), at most four deep),
// is a program that a library can be preloaded into.
tl::expected<std::string, Refusal> resolve_command(const std::string& command);

}  // namespace nvmemu
