// SPDX-License-Identifier: Apache-2.0
// Options of a command line that are numbers within bounds, one of some names, or sizes. What is wrong is
// said with the option's short name: CLI11's own conversions take "010" for 8, and say less.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "arguments/parser.h"
#include "base/quote.h"
#include "base/units.h"

namespace nvmemu::pmbench {

[[noreturn]] inline void refuse(const std::string& what) { throw UsageError(what); }

// "-m" of "-m,--mapsize", for messages.
inline std::string short_name(const std::string& names) { return names.substr(0, names.find(',')); }

template <typename Number>
Number parse_number(const std::string& option, const std::string& text, Number least, Number most) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error == std::errc::invalid_argument || end != text.data() + text.size())
    refuse(fmt::format("{}: {} is not a {}number", option, quote(text),
                       std::is_integral_v<Number> ? "whole " : ""));
  if (error != std::errc() || !(number >= least) || !(number <= most))
    refuse(fmt::format("{}: {} is not within {} to {}", option, text, least, most));
  return number;
}

// An option with a number, within bounds.
template <typename Number, typename Field>
void add_number(Parser& app, const std::string& names, const char* type, Field& field, Number least,
                Number most, const std::string& help, const char* group) {
  const std::string option = short_name(names);
  app.add_option_function(
         names,
         [=, &field](const std::string& text) {
           field = static_cast<Field>(parse_number(option, text, least, most));
         },
         help)
      .type_name(type)
      .group(group)
      .take_last();
}

// An option with one of some names.
template <typename Field>
void add_choice(Parser& app, const std::string& names, Field& field,
                std::vector<std::pair<std::string, Field>> choices, const std::string& help,
                const char* group) {
  std::string list;
  for (const auto& [name, value] : choices) list += (list.empty() ? "" : "|") + name;
  const std::string option = short_name(names);
  const auto choose = [=, &field](const std::string& text) {
    for (const auto& [name, value] : choices) {
      if (text == name) {
        field = value;
        return;
      }
    }
    refuse(fmt::format("{}: {} is not one of {}", option, quote(text), list));
  };
  app.add_option_function(names, choose, help).type_name(list).group(group).take_last();
}

inline void add_text(Parser& app, const std::string& names, const char* type, std::string& field,
                     const std::string& help, const char* group) {
  app.add_option(names, field, help).type_name(type).group(group).take_last();
}

// Sizes as 256M is written everywhere else: 256M is 256MiB.
inline std::uint64_t parse_size(const std::string& option, std::string text) {
  if (!text.empty() && std::string_view("KMGT").find(text.back()) != std::string_view::npos) text += "iB";
  const Result<std::uint64_t> size = parse_size_bytes(text);
  if (!size) refuse(option + ": " + size.error().message);
  return *size;
}

inline void add_time(Parser& app, const std::string& name, double& field_ns, const std::string& help,
                     const char* group) {
  const auto read = [=, &field_ns](const std::string& text) {
    const Result<double> ns = parse_latency_ns(text);
    if (!ns) refuse(name + ": " + ns.error().message);
    field_ns = *ns;
  };
  app.add_option_function(name, read, help).type_name("TIME").group(group).take_last();
}

template <typename Field>
void add_size(Parser& app, const std::string& name, Field& field, const std::string& help,
              const char* group) {
  app.add_option_function(
         name, [=, &field](const std::string& text) { field = parse_size(name, text); }, help)
      .type_name("SIZE")
      .group(group)
      .take_last();
}

}  // namespace nvmemu::pmbench
