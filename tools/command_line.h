// SPDX-License-Identifier: Apache-2.0
// Where, on nvmemu's command line, another program's begins.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

namespace nvmemu {

// Takes the command that `nvmemu run`, or another subcommand like it, shall run off the end of `arguments`
// (nvmemu's own, without its name) and returns it: what follows the first "--", or else the first argument
// that is neither an option of `run` nor an option's value. Empty where there is none, or the subcommand is
// not `run`. The parser never sees the command, and so cannot take its options, brackets or words for its
// own.
std::vector<std::string> cut_off_command(const CLI::App& run, std::vector<std::string>& arguments);

// Takes what follows the first "--" off the end of `arguments`, the "--" too, and returns it: for subcommands
// that take a command only so.
std::vector<std::string> cut_off_after_dashes(std::vector<std::string>& arguments);

// Help of such a subcommand. CLI11 knows nothing of what follows the options there, and takes a subcommand's
// one line for all of its description.
class CommandFormatter final : public CLI::Formatter {
 public:
  explicit CommandFormatter(std::string description) : description_(std::move(description)) {}
  std::string make_description(const CLI::App*) const override { return description_; }
  std::string make_usage(const CLI::App*, std::string name) const override {
    return "\nUsage: " + name + " [OPTIONS] [--] COMMAND [ARG...]\n";
  }

 private:
  std::string description_;
};

}  // namespace nvmemu
