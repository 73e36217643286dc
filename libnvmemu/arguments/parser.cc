// SPDX-License-Identifier: Apache-2.0
#include "arguments/parser.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

namespace nvmemu {
namespace {

// CLI11's, with texts of our own where there are some.
class Formatter final : public CLI::Formatter {
 public:
  Formatter() = default;
  explicit Formatter(const CLI::Formatter& parents) : CLI::Formatter(parents) {}

  std::string make_description(const CLI::App* app) const override {
    return description.empty() ? CLI::Formatter::make_description(app) : description;
  }
  std::string make_usage(const CLI::App* app, std::string name) const override {
    return usage.empty() ? CLI::Formatter::make_usage(app, std::move(name))
                         : "\nUsage: " + name + " " + usage + "\n";
  }

  std::string description, usage;
};

// This parser's own: a subcommand starts with its parent's.
Formatter& formatter_of(CLI::App& app) {
  const auto present = std::dynamic_pointer_cast<CLI::Formatter>(app.get_formatter());
  const bool shared = app.get_parent() != nullptr && app.get_parent()->get_formatter() == present;
  if (auto* own = dynamic_cast<Formatter*>(present.get()); own != nullptr && !shared) return *own;
  auto formatter = present ? std::make_shared<Formatter>(*present) : std::make_shared<Formatter>();
  app.formatter(formatter);
  return *formatter;
}

template <typename Number>
CLI::Validator range(Number least, Number most, const std::string& description) {
  return CLI::Range(least, most).description(description);
}

}  // namespace

Option& Option::type_name(const std::string& name) {
  option_->type_name(name);
  return *this;
}

Option& Option::group(const std::string& heading) {
  option_->group(heading);
  return *this;
}

Option& Option::default_str(const std::string& text) {
  option_->default_str(text);
  return *this;
}

Option& Option::capture_default_str() {
  option_->capture_default_str();
  return *this;
}

Option& Option::option_text(const std::string& text) {
  option_->option_text(text);
  return *this;
}

Option& Option::required() {
  option_->required();
  return *this;
}

Option& Option::take_last() {
  option_->take_last();
  return *this;
}

Option& Option::delimiter(char character) {
  option_->delimiter(character);
  return *this;
}

Option& Option::excludes(const Option& other) {
  option_->excludes(other.option_);
  return *this;
}

Option& Option::needs(const std::string& other) {
  option_->needs(other);
  return *this;
}

Option& Option::one_of(const std::vector<std::string>& values) {
  option_->check(CLI::IsMember(values));
  return *this;
}

Option& Option::within(std::uint64_t least, std::uint64_t most, const std::string& description) {
  option_->check(range(least, most, description));
  return *this;
}

Option& Option::within(double least, double most, const std::string& description) {
  option_->check(range(least, most, description));
  return *this;
}

Parser::Parser(const std::string& description, const std::string& name)
    : app_(std::make_shared<CLI::App>(description, name)) {}

Parser::Parser(std::shared_ptr<CLI::App> app) : app_(std::move(app)) {}

Parser Parser::add_subcommand(const std::string& name, const std::string& description) {
  return Parser({app_, app_->add_subcommand(name, description)});
}

Option Parser::add_option(const std::string& names, std::string& value, const std::string& help) {
  return Option(*app_->add_option(names, value, help));
}

Option Parser::add_option(const std::string& names, std::vector<std::string>& values,
                          const std::string& help) {
  return Option(*app_->add_option(names, values, help));
}

Option Parser::add_option(const std::string& names, std::uint64_t& value, const std::string& help) {
  return Option(*app_->add_option(names, value, help));
}

Option Parser::add_option(const std::string& names, int& value, const std::string& help) {
  return Option(*app_->add_option(names, value, help));
}

Option Parser::add_option(const std::string& names, std::optional<int>& value, const std::string& help) {
  return Option(*app_->add_option(names, value, help));
}

Option Parser::add_option(const std::string& names, double& value, const std::string& help) {
  return Option(*app_->add_option(names, value, help));
}

Option Parser::add_option_function(const std::string& names,
                                   const std::function<void(const std::string&)>& read,
                                   const std::string& help) {
  return Option(*app_->add_option_function<std::string>(names, read, help));
}

Option Parser::add_flag(const std::string& names, bool& value, const std::string& help) {
  return Option(*app_->add_flag(names, value, help));
}

Option Parser::get_option(const std::string& name) { return Option(*app_->get_option(name)); }

void Parser::footer(const std::string& text) { app_->footer(text); }

void Parser::long_description(const std::string& text) { formatter_of(*app_).description = text; }

void Parser::usage(const std::string& arguments) { formatter_of(*app_).usage = arguments; }

void Parser::column_width(std::size_t columns) { formatter_of(*app_).column_width(columns); }

void Parser::set_help_flag(const std::string& names, const std::string& help) {
  app_->set_help_flag(names, help);
}

void Parser::set_version_flag(const std::string& names, const std::string& version) {
  app_->set_version_flag(names, version);
}

void Parser::require_subcommand() { app_->require_subcommand(1); }

void Parser::fallthrough() { app_->fallthrough(); }

void Parser::allow_extras() { app_->allow_extras(); }

void Parser::callback(std::function<void()> function) { app_->callback(std::move(function)); }

std::string Parser::name() const { return app_->get_name(); }

std::string Parser::help() const { return app_->help(); }

std::vector<std::string> Parser::subcommand_names() const {
  std::vector<std::string> names;
  for (const CLI::App* subcommand : std::as_const(*app_).get_subcommands({}))
    names.push_back(subcommand->get_name());
  return names;
}

Parser Parser::subcommand(const std::string& name) const {
  return Parser({app_, app_->get_subcommand(name)});
}

bool Parser::takes_value(const std::string& option) const {
  const CLI::Option* known = std::as_const(*app_).get_option_no_throw(option);
  return known != nullptr && known->get_items_expected_max() > 0;
}

Result<std::optional<std::string>> Parser::parse(std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants a vector
  try {
    app_->parse(std::move(arguments));
    return std::nullopt;
  } catch (const CLI::CallForVersion& version) {
    return version.what() + std::string("\n");
  } catch (const CLI::CallForHelp&) {
    return app_->help();
  } catch (const CLI::ParseError& error) {
    return failure(error.what());
  } catch (const UsageError& error) {
    return failure(error.what());
  }
}

Result<std::optional<std::string>> Parser::parse(int argc, char** argv) {
  return parse(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
}

std::size_t Parser::count(const std::string& option) const { return app_->count(option); }

std::string Parser::chosen_subcommand() const {
  const auto chosen = app_->get_subcommands();
  return chosen.empty() ? "" : chosen.front()->get_name();
}

}  // namespace nvmemu
