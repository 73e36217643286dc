// SPDX-License-Identifier: Apache-2.0
// Runs a command as if nvmemu were not there: its standard streams, signals and exit status are the
// command's.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "resolve.h"

namespace nvmemu {

struct Ended {
  int exit_status;      // the command's own, or 128 + the signal that ended it
  double wall_seconds;  // of the command, not of what it left running
  bool all_ended;  // nothing that it started still runs; unknown, and false, where that was not waited for
};

enum class Waits { kForCommand, kForAll };

// Executes the file at `path` and waits for its end. `arguments` begin with the command's name; `environment`
// is all of it, as "NAME=value". SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 sent to this process
// are passed on, but for those that the terminal sends: the command, in the same foreground group, has had
// them already; where only orphans of the command are left, they end the waiting. The calling process must
// have no other thread but such as block all signals. Waits::kForAll: also for processes that outlive the
// command, which become children of this one.
tl::expected<Ended, Refusal> launch(const std::string& path, const std::vector<std::string>& arguments,
                                    const std::vector<std::string>& environment, Waits waits);

// This process's environment, with `variables` ("NAME=value") in place of those of the same names.
std::vector<std::string> environment_with(const std::vector<std::string>& variables);

}  // namespace nvmemu
