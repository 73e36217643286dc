// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/quote.h"
#include "output/files.h"
#include "output/json.h"
#include "output/json_fields.h"
#include "output/names.h"
#include "output/time_text.h"

namespace nvmemu::pmbench {
namespace {

using Json = nlohmann::ordered_json;  // counters keep their order

constexpr const char* kHint = "what pmbench --json FILE writes can be read";

// What a whole number may be, by its name; the first that fits: most count something, of which no run makes
// more in a century.
constexpr std::uint64_t kMostCount = std::uint64_t{1} << 53;
constexpr std::uint64_t kMostOfAll = std::numeric_limits<std::uint64_t>::max();
struct CountRange {
  std::string_view name;
  std::int64_t least;
  std::uint64_t most;
};
constexpr CountRange kCountRanges[] = {
    {"seed", 0, kMostOfAll},
    {"delay_cycles", 0, kMostOfAll},
    {"sum_ns", 0, kMostOfAll},  // as great as can be, where it is of the bands of an old file
    {"offset", std::numeric_limits<int>::min(), 1023},
    {"jobs", 1, 1U << 20},
    {"read_percent", 0, 100},
    {"compressible_percent", 0, 100},
    {"level", 0, 100},
    {"", 0, kMostCount},
};

// And a number: times and rates are none of them negative.
constexpr double kMostNumber = 1e18;  // ns: 30 years
constexpr double kMostShape = 1e12;

bool is_in(const CountRange& range, const Json& json) {
  if (json.is_number_unsigned()) {
    const auto value = json.get<std::uint64_t>();
    return value <= range.most && std::cmp_greater_equal(value, range.least);
  }
  return json.is_number_integer() && json.get<std::int64_t>() >= range.least;  // which is below 0
}

// One value and the fields under it; knows the way to it for what is wrong with it, of which the first is
// kept: the rest is then left as it is.
class Reader {
 public:
  Reader(const Json& json, std::string path, std::string_view name, std::string& error)
      : json_(json), path_(std::move(path)), name_(name), error_(error) {}

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
  Reader at(const Json& json, std::string_view name) const {
    return {json, path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name), name, error_};
  }
  Reader at(const Json& json, std::size_t index) const {
    return {json, fmt::format("{}[{}]", path_, index), name_, error_};
  }

  void refuse(std::string_view what) const {
    if (error_.empty()) error_ = fmt::format("{} {}", path_, what);
  }

  void expected(std::string_view what) const {
    refuse(fmt::format("is not {}, but {}", what,
                       quote(json_.dump(-1, ' ', false, Json::error_handler_t::replace))));
  }

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
    const auto* range = std::ranges::find_if(
        kCountRanges, [this](const CountRange& known) { return known.name.empty() || known.name == name_; });
    const std::uint64_t most = std::min<std::uint64_t>(range->most, std::numeric_limits<T>::max());
    if (!is_in({name_, range->least, most}, json_))
      return expected(fmt::format("a whole number from {} to {}", range->least, most));
    value = json_.get<T>();
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

  void read(bool& value) const {
    if (!json_.is_boolean()) return expected("true or false");
    value = json_.get<bool>();
  }

  void read(double& value) const {
    const bool is_shape = name_ == "shape";
    const double least = is_shape ? -kMostShape : 0;
    const double most = is_shape ? kMostShape : kMostNumber;
    const double number = json_.is_number() ? json_.get<double>() : NAN;
    if (!(number >= least && number <= most))
      return expected(fmt::format("a number from {:g} to {:g}", least, most));
    value = number;
  }

  void read(std::string& value) const {
    if (!json_.is_string()) return expected("a text");
    value = json_.get<std::string>();
  }

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
    // One by one, and no further than the first error: a thread takes much more memory than "{}" does.
    for (std::size_t i = 0; i < json_.size() && error_.empty(); ++i)
      at(json_[i], i).read(values.emplace_back());
  }

  void read(std::vector<std::pair<std::string, double>>& counters) const {
    if (!json_.is_object()) return expected("an object");
    for (const auto& [name, value] : json_.items()) {
      at(value, name).read(counters.emplace_back(name, 0).second);
    }
  }

  void read(std::tm& time) const {
    if (json_.is_null()) return;
    std::string text;
    read(text);
    if (const auto parsed = parse_time(text)) {
      time = *parsed;
    } else {
      expected("a time as 2026-01-31T12:00:00Z");
    }
  }

  void read(LatencyCounts& counts) const {
    (*this)("count", counts.count);
    (*this)("sum_ns", counts.sum_ns);
    (*this)("min_ns", counts.min_ns);
    (*this)("max_ns", counts.max_ns);
    std::vector<std::vector<std::uint64_t>> buckets;
    (*this)("buckets", buckets);
    if (error_.empty()) read_buckets(buckets, counts);
  }

  void read_buckets(const std::vector<std::vector<std::uint64_t>>& buckets, LatencyCounts& counts) const {
    std::uint64_t sum = 0;
    for (const auto& bucket : buckets) {
      const std::size_t i = bucket.size() == 2 ? Buckets::index(bucket[0]) : 0;
      if (bucket.size() != 2 || Buckets::begin_ns(i) != bucket[0] || bucket[1] > kMostCount) {
        return refuse("has a bucket that is not [begin_ns, count], or begins where none does");
      }
      counts.counts[i] += bucket[1];
      sum += bucket[1];
    }
    if (sum != counts.count) refuse("has a count that is not its buckets' sum");
    if (counts.min_ns > counts.max_ns) refuse("has a min_ns above its max_ns");
  }

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

}  // namespace

Result<RunResult> parse_json(std::string_view text) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::exception& error) {
    return failure(fmt::format("it is no whole JSON: {}", error.what()), kHint);
  }
  std::string error;
  std::string schema;
  const Reader reader(json, "", "", error);
  reader("schema", schema);
  if (!error.empty() || schema != kJsonSchema) {
    return failure(error.empty() ? fmt::format("its schema is {}, not {}", quote(schema), kJsonSchema)
                                 : "it is no run of pmbench: it names no schema",
                   kHint);
  }
  RunResult result;
  fields(reader, result);
  if (!error.empty()) return failure(std::move(error), kHint);
  return result;
}

Result<RunResult> read_json(const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  Result<RunResult> result = parse_json(*text);
  if (!result) return failure(path + ": " + result.error().message, result.error().hint);
  return result;
}

}  // namespace nvmemu::pmbench
