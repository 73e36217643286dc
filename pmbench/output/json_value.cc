// SPDX-License-Identifier: Apache-2.0
#include "output/json_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/quote.h"
#include "output/schema.h"

namespace nvmemu::pmbench {
namespace {

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

// And a number: times and rates are none of them negative, but for slopes.
struct NumberRange {
  std::string_view name;
  double least, most;
};
constexpr NumberRange kNumberRanges[] = {
    {"shape", -1e12, 1e12}, {"a_ns", -1e18, 1e18}, {"b_ns", -1e18, 1e18}, {"", 0, 1e18},  // ns: 30 years
};

// The first that has the name, or is of any: the last.
template <typename Ranges>
const auto& range_of(const Ranges& ranges, std::string_view name) {
  return *std::ranges::find_if(
      ranges, [name](const auto& known) { return known.name.empty() || known.name == name; });
}

bool is_in(const CountRange& range, const Json& json) {
  if (json.is_number_unsigned()) {
    const auto value = json.get<std::uint64_t>();
    return value <= range.most && std::cmp_greater_equal(value, range.least);
  }
  return json.is_number_integer() && json.get<std::int64_t>() >= range.least;  // which is below 0
}

}  // namespace

Result<Json> parse_whole_json(std::string_view text) {
  try {
    return Json::parse(text);
  } catch (const Json::exception& error) {
    return wrong_json(fmt::format("it is no whole JSON: {}", error.what()));
  }
}

std::string schema_of(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  const auto schema = json.is_object() ? json.find("schema") : json.end();
  return json.is_object() && schema != json.end() && schema->is_string() ? schema->get<std::string>() : "";
}

tl::unexpected<Error> wrong_json(std::string message) { return failure(std::move(message), kHint); }

Result<void> JsonReader::check_schema(std::string_view schema) const {
  std::string found;
  (*this)("schema", found);
  if (!error_.empty()) return wrong_json("it is no run of pmbench: it names no schema");
  if (found != schema) return wrong_json(fmt::format("its schema is {}, not {}", quote(found), schema));
  return {};
}

void JsonReader::refuse(std::string_view what) const {
  if (error_.empty()) error_ = fmt::format("{} {}", path_, what);
}

void JsonReader::expected(std::string_view what) const {
  refuse(fmt::format("is not {}, but {}", what,
                     quote(json_.dump(-1, ' ', false, Json::error_handler_t::replace))));
}

bool JsonReader::is_count(std::uint64_t most_of_type) const {
  CountRange range = range_of(kCountRanges, name_);
  range.most = std::min(range.most, most_of_type);
  if (is_in(range, json_)) return true;
  expected(fmt::format("a whole number from {} to {}", range.least, range.most));
  return false;
}

void JsonReader::read(bool& value) const {
  if (!json_.is_boolean()) return expected("true or false");
  value = json_.get<bool>();
}

void JsonReader::read(double& value) const {
  const NumberRange& range = range_of(kNumberRanges, name_);
  const double number = json_.is_number() ? json_.get<double>() : NAN;
  if (!(number >= range.least && number <= range.most))
    return expected(fmt::format("a number from {:g} to {:g}", range.least, range.most));
  value = number;
}

void JsonReader::read(std::string& value) const {
  if (!json_.is_string()) return expected("a text");
  value = json_.get<std::string>();
}

void JsonReader::read(std::tm& time) const {
  if (json_.is_null()) return;
  std::string text;
  read(text);
  if (const auto parsed = parse_time(text)) {
    time = *parsed;
  } else {
    expected("a time as 2026-01-31T12:00:00Z");
  }
}

void JsonReader::read(LatencyCounts& counts) const {
  (*this)("count", counts.count);
  (*this)("sum_ns", counts.sum_ns);
  (*this)("min_ns", counts.min_ns);
  (*this)("max_ns", counts.max_ns);
  std::vector<std::vector<std::uint64_t>> buckets;
  (*this)("buckets", buckets);
  if (error_.empty()) read_buckets(buckets, counts);
}

void JsonReader::read(std::vector<std::pair<std::string, double>>& counters) const {
  if (!json_.is_object()) return expected("an object");
  for (const auto& [name, value] : json_.items()) {
    at(value, name).read(counters.emplace_back(name, 0).second);
  }
}

void JsonReader::read_buckets(const std::vector<std::vector<std::uint64_t>>& buckets,
                              LatencyCounts& counts) const {
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

JsonReader JsonReader::at(const Json& json, std::string_view name) const {
  return {json, path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name), name, error_};
}

JsonReader JsonReader::at(const Json& json, std::size_t index) const {
  return {json, fmt::format("{}[{}]", path_, index), name_, error_};
}

}  // namespace nvmemu::pmbench
