// SPDX-License-Identifier: Apache-2.0
#include "output/json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "output/files.h"
#include "output/json_fields.h"
#include "output/names.h"
#include "output/time_text.h"

namespace nvmemu::pmbench {
namespace {

using Json = nlohmann::ordered_json;

// An object, field by field.
class Writer {
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
      Writer writer;
      fields(writer, value);
      return writer.take();
    }
  }

  template <typename T>
  static Json json_of(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
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

}  // namespace

std::string to_json(const RunResult& result) {
  Writer writer;
  writer("schema", kJsonSchema);
  fields(writer, result);
  // Paths and commands are bytes of any kind; JSON is UTF-8.
  return writer.take().dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<void> write_json(const RunResult& result, const std::string& path) {
  return write_file(path, to_json(result));
}

}  // namespace nvmemu::pmbench
