// SPDX-License-Identifier: Apache-2.0
// An object of a run report's JSON, field by field: each has a kind, and a kind a range. What is missing, of
// another kind or out of range is thrown as a FieldError that names the field; parse_report() makes an error
// of it.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "report/number_ranges.h"

namespace nvmemu {

class FieldError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline constexpr std::uint64_t kMostPid = 0xffffffff;

class Fields {
 public:
  using Json = nlohmann::json;

  // `path`: how the object is called in messages; "" for the whole.
  Fields(const Json& json, std::string path);

  Fields object(const char* name) const;
  const Json& array(const char* name) const;
  Fields element(const char* name, const Json& json, std::size_t index) const;
  bool is_null(const char* name) const;
  bool has(const char* name) const;  // null or not

  std::string text(const char* name) const;
  std::string text_or_null(const char* name) const;  // "" where it is null or missing
  std::vector<std::string> texts(const char* name) const;
  bool flag(const char* name) const;
  bool flag_or(const char* name, bool otherwise) const;
  std::uint64_t count(const char* name, std::uint64_t most) const;
  std::map<std::string, std::uint64_t> counts(const char* name, std::uint64_t most) const;  // by name
  double number(const char* name, NumberRange range) const;
  std::optional<double> number_or_null(const char* name, NumberRange range) const;     // must be there
  std::optional<double> number_or_nothing(const char* name, NumberRange range) const;  // may be missing
  std::vector<double> numbers(const char* name, NumberRange range) const;

 private:
  const Json& at(const char* name) const;
  std::string path_of(std::string_view name) const;
  [[noreturn]] void refuse(std::string_view name, std::string_view what) const;
  double number_in(std::string_view name, const Json& value, NumberRange range) const;

  const Json& json_;
  std::string path_;
};

}  // namespace nvmemu
