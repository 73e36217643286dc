// SPDX-License-Identifier: Apache-2.0
// The subcommands of `nvmemu`, one file each.
#pragma once

#include <string>
#include <vector>

#include "arguments/parser.h"

namespace nvmemu {

// What nvmemu itself exits with, as env(1) and timeout(1) do. `run` otherwise exits with the command's own
// status, 128 + the signal's number where a signal ended it.
enum ExitStatus : int {
  kSuccess = 0,
  kNvmemuFailed = 125,  // usage errors too
  kNotExecutable = 126,
  kNotFound = 127,
};

// Each adds its subcommand, with options and help, to `app`; when that subcommand is chosen, it runs within
// app.parse() and leaves in `exit_status` what the process shall exit with. The reference must outlive the
// parsing.
void add_bench(Parser& app, int& exit_status);
void add_calibrate(Parser& app, int& exit_status);
void add_events(Parser& app, int& exit_status);
void add_info(Parser& app, int& exit_status);
void add_profiles(Parser& app, int& exit_status);
void add_predict(Parser& app, int& exit_status);
void add_report(Parser& app, int& exit_status);

// `command`: what is to be run, already cut off the arguments, for it may look like anything.
void add_run(Parser& app, const std::vector<std::string>& command, int& exit_status);
void add_record(Parser& app, const std::vector<std::string>& command, int& exit_status);
void add_throttle(Parser& app, const std::vector<std::string>& command, int& exit_status);
void add_validate(Parser& app, const std::vector<std::string>& command, int& exit_status);

}  // namespace nvmemu
