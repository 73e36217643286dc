// SPDX-License-Identifier: Apache-2.0
#include "host/calibration.h"

#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <system_error>

#include "base/quote.h"
#include "host/key_values.h"

namespace nvmemu {
namespace {

// One row a key, in the order of the file.
struct TextField {
  std::string_view key;
  std::string Calibration::*member;
};
struct NumberField {
  std::string_view key;
  double Calibration::*member;
  double most;
};
struct FlagField {
  std::string_view key;
  bool Calibration::*member;
};

// Far above what any machine has.
constexpr double kMostNs = 1e9;
constexpr double kMostHz = 1e11;
constexpr double kMostBps = 1e15;
constexpr double kMostBytes = 1e15;
constexpr double kMostRelative = 1e6;
constexpr double kMostInstructions = 1e4;

constexpr std::array kTexts{
    TextField{"cpu_model", &Calibration::cpu_model},
    TextField{"boot_id", &Calibration::boot_id},
};
constexpr std::array kNumbers{
    NumberField{"clock_hz", &Calibration::clock_hz, kMostHz},
    NumberField{"base_latency_ns", &Calibration::base_latency_ns, kMostNs},
    NumberField{"base_latency_spread", &Calibration::base_latency_spread, kMostRelative},
    NumberField{"small_page_latency_ns", &Calibration::small_page_latency_ns, kMostNs},
    NumberField{"short_chase_ns", &Calibration::short_chase_ns, kMostNs},
    NumberField{"chase_bytes", &Calibration::chase_bytes, kMostBytes},
    NumberField{"cache_latency_ns", &Calibration::cache_latency_ns, kMostNs},
    NumberField{"timing_overhead_ns", &Calibration::timing_overhead_ns, kMostNs},
    NumberField{"memory_threshold_ns", &Calibration::memory_threshold_ns, kMostNs},
    NumberField{"sample_cost_ns", &Calibration::sample_cost_ns, kMostNs},
    NumberField{"sample_stall_cost_ns", &Calibration::sample_stall_cost_ns, kMostNs},
    NumberField{"timer_cost_ns", &Calibration::timer_cost_ns, kMostNs},
    NumberField{"walked_miss_ns", &Calibration::walked_miss_ns, kMostNs},
    NumberField{"native_miss_ns", &Calibration::native_miss_ns, kMostNs},
    NumberField{"loaded_ratio", &Calibration::loaded_ratio, kMostRelative},
    NumberField{"walked_step_ns", &Calibration::walked_step_ns, kMostNs},
    NumberField{"walk_begin_ns", &Calibration::walk_begin_ns, kMostNs},
    NumberField{"window_instructions", &Calibration::window_instructions, kMostInstructions},
    NumberField{"waiting_instructions", &Calibration::waiting_instructions, kMostInstructions},
    NumberField{"parallel_misses", &Calibration::parallel_misses, kMostInstructions},
    NumberField{"persist_latency_ns", &Calibration::persist_latency_ns, kMostNs},
    NumberField{"read_bandwidth_bps", &Calibration::read_bandwidth_bps, kMostBps},
    NumberField{"read_bandwidth_all_bps", &Calibration::read_bandwidth_all_bps, kMostBps},
    NumberField{"copy_bandwidth_bps", &Calibration::copy_bandwidth_bps, kMostBps},
    NumberField{"copy_bandwidth_all_bps", &Calibration::copy_bandwidth_all_bps, kMostBps},
};
constexpr std::array kFlags{
    FlagField{"huge_pages", &Calibration::huge_pages},
    FlagField{"unstable", &Calibration::unstable},
};

// The shortest text that reads back as the same number, whatever the locale of the process.
std::string format_number(double number) {
  std::array<char, 32> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  return error == std::errc() ? std::string(buffer.data(), end) : "0";
}

// Nothing that is kept can be negative, or not a number.
std::optional<double> parse_number(std::string_view text, double most) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number >= 0 && number <= most ? std::optional(number) : std::nullopt;
}

enum class Assigned { kYes, kUnknownKey, kMalformed };

Assigned assign(Calibration& calibration, std::string_view key, std::string_view value) {
  for (const auto& field : kTexts) {
    if (field.key != key) continue;
    const auto text = unquote_value(value);
    if (!text) return Assigned::kMalformed;
    calibration.*field.member = *text;
    return Assigned::kYes;
  }
  for (const auto& field : kNumbers) {
    if (field.key != key) continue;
    const auto number = parse_number(value, field.most);
    if (!number) return Assigned::kMalformed;
    calibration.*field.member = *number;
    return Assigned::kYes;
  }
  for (const auto& field : kFlags) {
    if (field.key != key) continue;
    if (value != "true" && value != "false") return Assigned::kMalformed;
    calibration.*field.member = value == "true";
    return Assigned::kYes;
  }
  return Assigned::kUnknownKey;
}

constexpr const char* kMeasureAgain = "run 'nvmemu calibrate' to measure and store it anew";

template <typename Fields>
Result<void> require(const Fields& fields, const std::set<std::string_view>& seen) {
  for (const auto& field : fields) {
    if (!seen.contains(field.key))
      return failure("calibration: '" + std::string(field.key) + "' is missing", kMeasureAgain);
  }
  return {};
}

}  // namespace

std::string serialize(const Calibration& calibration) {
  std::string text = "# What 'nvmemu calibrate' measured. Valid for this processor and this boot.\n";
  const auto add = [&text](std::string_view key, std::string_view value) {
    text.append(key).append(" = ").append(value).append("\n");
  };
  for (const auto& field : kTexts) add(field.key, quote_value(calibration.*field.member));
  for (const auto& field : kNumbers) add(field.key, format_number(calibration.*field.member));
  for (const auto& field : kFlags) add(field.key, calibration.*field.member ? "true" : "false");
  return text;
}

Result<Calibration> parse_calibration(std::string_view text) {
  Calibration calibration;
  std::set<std::string_view> seen;
  const KeyValues lines = split_key_values(text);
  if (!lines.malformed.empty())
    return failure("calibration: " + quote(lines.malformed) + " is not 'key = value'", kMeasureAgain);
  for (const auto& [key, value] : lines.pairs) {
    if (assign(calibration, key, value) == Assigned::kMalformed)
      return failure("calibration: " + quote(key) + " cannot be " + quote(value), kMeasureAgain);
    seen.insert(key);
  }
  Result<void> complete = require(kTexts, seen);
  if (complete) complete = require(kNumbers, seen);
  if (complete) complete = require(kFlags, seen);
  if (!complete) return tl::unexpected<Error>(complete.error());
  return calibration;
}

}  // namespace nvmemu
