// SPDX-License-Identifier: Apache-2.0
// The subcommands of `nvmemu`, one file each.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

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
void add_calibrate(CLI::App& app, int& exit_status);
void add_events(CLI::App& app, int& exit_status);
void add_info(CLI::App& app, int& exit_status);
void add_profiles(CLI::App& app, int& exit_status);
void add_predict(CLI::App& app, int& exit_status);
void add_report(CLI::App& app, int& exit_status);

// `command`: what is to be run, already cut off the arguments, for it may look like anything.
void add_run(CLI::App& app, const std::vector<std::string>& command, int& exit_status);
void add_record(CLI::App& app, const std::vector<std::string>& command, int& exit_status);
void add_throttle(CLI::App& app, const std::vector<std::string>& command, int& exit_status);
void add_validate(CLI::App& app, const std::vector<std::string>& command, int& exit_status);

}  // namespace nvmemu
