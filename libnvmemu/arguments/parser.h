// SPDX-License-Identifier: Apache-2.0
// The command lines of all programs: options, flags and subcommands, their values and their help. In front of
// CLI11, whose headers make a file that includes them take ten times as long to compile: only parser.cc does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/result.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace nvmemu {

// Thrown by what reads a value, or by a callback, where what was written cannot be: parse() returns the
// message.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  UsageError(const std::string& option, const std::string& message)
      : std::runtime_error(option + ": " + message) {}
};

// An option of a parser, to say more of it; valid as long as the parser is. Each function returns the option.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  // In the help: what a value is ("LATENCY"), under which heading the option stands ("": in none, hidden),
  // what it is where it is not given, and what stands in place of all of that.
  Option& type_name(const std::string& name);
  Option& group(const std::string& heading);
  Option& default_str(const std::string& text);
  Option& capture_default_str();  // the variable's present value
  Option& option_text(const std::string& text);

  Option& required();
  Option& take_last();                // where it is given more than once
  Option& delimiter(char character);  // between the values of a list
  Option& excludes(const Option& other);
  Option& needs(const std::string& other);

  // Refuses other values. `description`: of the bounds, in the help.
  Option& one_of(const std::vector<std::string>& values);
  Option& within(std::uint64_t least, std::uint64_t most, const std::string& description);
  Option& within(double least, double most, const std::string& description);

 private:
  CLI::Option* option_;
};

// A program's command line, or a subcommand's: a handle, of which copies are the same parser. What values are
// read into, and what callbacks refer to, must outlive parse().
class Parser {
 public:
  Parser(const std::string& description, const std::string& name);

  Parser add_subcommand(const std::string& name, const std::string& description);

  // `names`: "-q,--quiet", or, of a value without a name of its own on the command line, "FILE".
  Option add_option(const std::string& names, std::string& value, const std::string& help);
  Option add_option(const std::string& names, std::vector<std::string>& values, const std::string& help);
  Option add_option(const std::string& names, std::uint64_t& value, const std::string& help);
  Option add_option(const std::string& names, int& value, const std::string& help);
  Option add_option(const std::string& names, std::optional<int>& value, const std::string& help);
  Option add_option(const std::string& names, double& value, const std::string& help);
  // `read` is called with what was written.
  Option add_option_function(const std::string& names, const std::function<void(const std::string&)>& read,
                             const std::string& help);
  Option add_flag(const std::string& names, bool& value, const std::string& help);
  Option get_option(const std::string& name);  // one that was added

  // The help's: lines after the options; what --help alone says in place of the description; what follows the
  // name in the line of usage; and how wide the options are.
  void footer(const std::string& text);
  void long_description(const std::string& text);
  void usage(const std::string& arguments);
  void column_width(std::size_t columns);
  void set_help_flag(const std::string& names, const std::string& help);
  void set_version_flag(const std::string& names, const std::string& version);

  void require_subcommand();
  void fallthrough();  // unknown options are the parent's
  void allow_extras();
  // Called once all options have been read, where this parser was chosen.
  void callback(std::function<void()> function);

  std::string name() const;
  std::string help() const;
  std::vector<std::string> subcommand_names() const;
  Parser subcommand(const std::string& name) const;  // one that was added
  // Whether the argument after this one is its value; false where it is no option.
  bool takes_value(const std::string& option) const;

  // Reads the values and makes the callbacks. Returns nothing then; or else the text that was asked for, of
  // --help or
  // --version, to be printed. An error says what is wrong with the command line. `arguments`: without the
  // program's name. What callbacks throw, other than UsageError, passes.
  Result<std::optional<std::string>> parse(std::vector<std::string> arguments);
  Result<std::optional<std::string>> parse(int argc, char** argv);

  // After parse(): how often an option was given; and the name of the subcommand, "" where there is none.
  std::size_t count(const std::string& option) const;
  std::string chosen_subcommand() const;

 private:
  explicit Parser(std::shared_ptr<CLI::App> app);

  std::shared_ptr<CLI::App> app_;
};

}  // namespace nvmemu
