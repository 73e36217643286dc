// SPDX-License-Identifier: Apache-2.0
#include "report/report_fields.h"

#include <fmt/format.h>

#include <cmath>

#include "base/quote.h"

namespace nvmemu {
namespace {

std::string shown(const Fields::Json& value) {
  return quote(value.dump(-1, ' ', true, Fields::Json::error_handler_t::replace));
}

}  // namespace

Fields::Fields(const Json& json, std::string path) : json_(json), path_(std::move(path)) {
  if (!json_.is_object()) throw FieldError(fmt::format("'{}' is no object", path_));
}

std::string Fields::path_of(std::string_view name) const {
  return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
}

void Fields::refuse(std::string_view name, std::string_view what) const {
  throw FieldError(fmt::format("'{}' {}", path_of(name), what));
}

const Fields::Json& Fields::at(const char* name) const {
  const auto found = json_.find(name);
  if (found == json_.end()) refuse(name, "is missing");
  return *found;
}

Fields Fields::object(const char* name) const { return {at(name), path_of(name)}; }

const Fields::Json& Fields::array(const char* name) const {
  const Json& value = at(name);
  if (!value.is_array()) refuse(name, "is no array");
  return value;
}

Fields Fields::element(const char* name, const Json& json, std::size_t index) const {
  return {json, fmt::format("{}[{}]", path_of(name), index)};
}

bool Fields::is_null(const char* name) const { return at(name).is_null(); }
bool Fields::has(const char* name) const { return json_.contains(name); }

std::string Fields::text(const char* name) const {
  const Json& value = at(name);
  if (!value.is_string()) refuse(name, fmt::format("is no text, but {}", shown(value)));
  return value.get<std::string>();
}

std::string Fields::text_or_null(const char* name) const {
  const auto found = json_.find(name);
  return found == json_.end() || found->is_null() ? std::string() : text(name);
}

std::vector<std::string> Fields::texts(const char* name) const {
  std::vector<std::string> all;
  for (const Json& value : array(name)) {
    if (!value.is_string()) refuse(name, fmt::format("has what is no text: {}", shown(value)));
    all.push_back(value.get<std::string>());
  }
  return all;
}

bool Fields::flag(const char* name) const {
  const Json& value = at(name);
  if (!value.is_boolean()) refuse(name, fmt::format("is neither true nor false, but {}", shown(value)));
  return value.get<bool>();
}

bool Fields::flag_or(const char* name, bool otherwise) const {
  return json_.contains(name) ? flag(name) : otherwise;
}

// A number below 0 or with a point is of another kind, and would come out as any.
std::uint64_t Fields::count(const char* name, std::uint64_t most) const {
  const Json& value = at(name);
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most)
    refuse(name, fmt::format("is not a whole number from 0 to {}, but {}", most, shown(value)));
  return value.get<std::uint64_t>();
}

std::map<std::string, std::uint64_t> Fields::counts(const char* name, std::uint64_t most) const {
  const Json& value = at(name);
  if (!value.is_object()) refuse(name, fmt::format("is no object, but {}", shown(value)));
  const Fields fields(value, path_of(name));
  std::map<std::string, std::uint64_t> found;
  for (const auto& entry : value.items()) found[entry.key()] = fields.count(entry.key().c_str(), most);
  return found;
}

double Fields::number_in(std::string_view name, const Json& value, NumberRange range) const {
  const double number = value.is_number() ? value.get<double>() : NAN;
  if (!(number >= range.least && number <= range.most))
    refuse(name,
           fmt::format("is not a number from {:g} to {:g}, but {}", range.least, range.most, shown(value)));
  return number;
}

double Fields::number(const char* name, NumberRange range) const { return number_in(name, at(name), range); }

std::optional<double> Fields::number_or_null(const char* name, NumberRange range) const {
  return at(name).is_null() ? std::nullopt : std::optional(number(name, range));
}

std::optional<double> Fields::number_or_nothing(const char* name, NumberRange range) const {
  return json_.contains(name) ? number_or_null(name, range) : std::nullopt;
}

std::vector<double> Fields::numbers(const char* name, NumberRange range) const {
  std::vector<double> all;
  for (const Json& value : array(name)) all.push_back(number_in(name, value, range));
  return all;
}

}  // namespace nvmemu
