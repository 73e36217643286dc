// SPDX-License-Identifier: Apache-2.0
// Structures as JSON and back, by what fields() says of each (json_fields.h for one). Costs seconds to
// compile: for the .cc files of this folder that write or read a schema.
#pragma once

#include <array>
#include <cstdint>
#include <ctime>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"
#include "measure/histogram.h"
#include "output/names.h"
#include "output/time_text.h"

namespace nvmemu::pmbench {

using Json = nlohmann::ordered_json;  // fields keep their order

// An object, field by field.
class JsonWriter {
 public:
  template <typename T>
  void operator()(const char* name, const T& value) {
    object_[name] = json_of(value);
  }

  Json take() { return std::move(object_); }

 private:
  template <typename T>
  static Json json_of(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      return name_of(value);
    } else if constexpr (std::is_constructible_v<Json, const T&>) {
      return value;
    } else {
      JsonWriter writer;
      fields(writer, value);
      return writer.take();
    }
  }

  template <typename T>
  static Json json_of(const std::optional<T>& value) {
    return value ? json_of(*value) : Json(nullptr);
  }

  template <typename T>
  static Json json_of(const std::vector<T>& values) {
    Json array = Json::array();
    for (const T& value : values) array.push_back(json_of(value));
    return array;
  }

  static Json json_of(const std::vector<std::pair<std::string, double>>& counters) {
    Json object = Json::object();
    for (const auto& [name, value] : counters) object[name] = value;
    return object;
  }

  static Json json_of(const std::tm& time) {
    const std::string text = time_text(time);
    return text.empty() ? Json(nullptr) : Json(text);
  }

  static Json json_of(const LatencyCounts& counts) {
    Json buckets = Json::array();
    for (std::size_t i = 0; i < counts.counts.size(); ++i) {
      if (counts.counts[i] != 0) buckets.push_back({Buckets::begin_ns(i), counts.counts[i]});
    }
    return {{"count", counts.count},
            {"sum_ns", counts.sum_ns},
            {"min_ns", counts.min_ns},
            {"max_ns", counts.max_ns},
            {"buckets", std::move(buckets)}};
  }

  template <typename T>
  static Json json_of(const std::array<T, kAccessClasses>& classes) {
    Json object = Json::object();
    for (const auto& [access_class, name] : Names<AccessClass>::kAll) {
      object[std::string(name)] = json_of(classes[static_cast<std::size_t>(access_class)]);
    }
    return object;
  }

  Json object_ = Json::object();
};

// One value and the fields under it; knows the way to it for what is wrong with it, of which the first is
// kept: the rest is then left as it is.
class JsonReader {
 public:
  JsonReader(const Json& json, std::string path, std::string_view name, std::string& error)
      : json_(json), path_(std::move(path)), name_(name), error_(error) {}

  // That the file is of that schema.
  Result<void> check_schema(std::string_view schema) const;

  bool has(const char* name) const { return json_.is_object() && json_.contains(name); }

  template <typename T>
  void operator()(const char* name, T& value) const {
    if (!error_.empty()) return;
    if (!json_.is_object()) return refuse("is no object");
    const auto found = json_.find(name);
    if (found == json_.end()) return at(json_, name).refuse("is missing");
    at(*found, name).read(value);
  }

 private:
  JsonReader at(const Json& json, std::string_view name) const;
  JsonReader at(const Json& json, std::size_t index) const;

  void refuse(std::string_view what) const;

  void expected(std::string_view what) const;
  // Says what is wrong where it is no whole number, or none that a field of that name may have.
  bool is_count(std::uint64_t most_of_type) const;

  template <typename T>
  void read(T& value) const {
    if constexpr (std::is_enum_v<T>) {
      read_name(value);
    } else if constexpr (std::is_integral_v<T>) {
      read_integer(value);
    } else {
      fields(*this, value);
    }
  }

  template <typename T>
  void read_integer(T& value) const {
    if (is_count(std::numeric_limits<T>::max())) value = json_.get<T>();
  }

  template <typename Enum>
  void read_name(Enum& value) const {
    std::string name;
    read(name);
    if (const auto found = find_name<Enum>(name)) {
      value = *found;
    } else {
      expected("one of the names that it may have");
    }
  }

  void read(bool& value) const;
  void read(double& value) const;
  void read(std::string& value) const;
  template <typename T>
  void read(std::optional<T>& value) const {
    if (json_.is_null()) return;
    T inner{};
    read(inner);
    value = inner;
  }

  template <typename T>
  void read(std::vector<T>& values) const {
    if (!json_.is_array()) return expected("an array");
    values.clear();
    // One by one, and no further than the first error: a thread takes much more memory than "{}" does.
    for (std::size_t i = 0; i < json_.size() && error_.empty(); ++i)
      at(json_[i], i).read(values.emplace_back());
  }

  void read(std::vector<std::pair<std::string, double>>& counters) const;
  void read(std::tm& time) const;
  void read(LatencyCounts& counts) const;
  void read_buckets(const std::vector<std::vector<std::uint64_t>>& buckets, LatencyCounts& counts) const;
  template <typename T>
  void read(std::array<T, kAccessClasses>& classes) const {
    for (const auto& [access_class, name] : Names<AccessClass>::kAll) {
      (*this)(name.data(), classes[static_cast<std::size_t>(access_class)]);
    }
  }

  const Json& json_;
  std::string path_;
  std::string_view name_;  // of the field that it is, or is an element of
  std::string& error_;
};

// A whole file of that schema.
template <typename T>
std::string json_text(std::string_view schema, const T& value) {
  JsonWriter writer;
  writer("schema", schema);
  fields(writer, value);
  // Paths and commands are bytes of any kind; JSON is UTF-8.
  return writer.take().dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Json> parse_whole_json(std::string_view text);
tl::unexpected<Error> wrong_json(std::string message);

// The way back; an error names the field.
template <typename T>
Result<T> parse_json_of(std::string_view text, std::string_view schema) {
  const Result<Json> json = parse_whole_json(text);
  if (!json) return tl::unexpected(json.error());
  std::string error;
  const JsonReader reader(*json, "", "", error);
  if (const Result<void> right = reader.check_schema(schema); !right) return tl::unexpected(right.error());
  T value;
  fields(reader, value);
  if (!error.empty()) return wrong_json(std::move(error));
  return value;
}

}  // namespace nvmemu::pmbench
