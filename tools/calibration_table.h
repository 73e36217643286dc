// SPDX-License-Identifier: Apache-2.0
// A calibration as people and as programs read it.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/units.h"
#include "host/calibration.h"
#include "terminal.h"

namespace nvmemu {

// By key, (largest - smallest) / median of the repetitions.
using Spreads = std::map<std::string, double, std::less<>>;

struct CalibrationRow {
  std::string_view key;  // as in the file
  std::string_view label;
  double Calibration::*member;
  std::string (*format)(double);
};

inline std::string format_ratio(double ratio) { return fmt::format("{:.2f} x", ratio); }

inline std::string format_count(double count) { return fmt::format("{:.0f}", count); }

inline constexpr std::array kCalibrationRows{
    CalibrationRow{"base_latency_ns", "base latency, huge pages", &Calibration::base_latency_ns,
                   format_latency},
    CalibrationRow{"small_page_latency_ns", "in 4 KiB pages", &Calibration::small_page_latency_ns,
                   format_latency},
    CalibrationRow{"short_chase_ns", "short chase", &Calibration::short_chase_ns, format_latency},
    CalibrationRow{"cache_latency_ns", "last-level cache", &Calibration::cache_latency_ns, format_latency},
    CalibrationRow{"timing_overhead_ns", "timed load, L1 hit", &Calibration::timing_overhead_ns,
                   format_latency},
    CalibrationRow{"memory_threshold_ns", "timed load, memory above", &Calibration::memory_threshold_ns,
                   format_latency},
    CalibrationRow{"sample_cost_ns", "perf_event sample", &Calibration::sample_cost_ns, format_duration},
    CalibrationRow{"sample_stall_cost_ns", "  while waiting for memory", &Calibration::sample_stall_cost_ns,
                   format_duration},
    CalibrationRow{"timer_cost_ns", "timer signal", &Calibration::timer_cost_ns, format_duration},
    CalibrationRow{"walked_miss_ns", "load from memory, as walked", &Calibration::walked_miss_ns,
                   format_latency},
    CalibrationRow{"native_miss_ns", "  natively, meanwhile", &Calibration::native_miss_ns, format_latency},
    CalibrationRow{"loaded_ratio", "  twelve at a time, longer", &Calibration::loaded_ratio, format_ratio},
    CalibrationRow{"walked_step_ns", "walk, an instruction", &Calibration::walked_step_ns, format_latency},
    CalibrationRow{"walk_begin_ns", "walk, its beginning", &Calibration::walk_begin_ns, format_duration},
    CalibrationRow{"window_instructions", "instructions beside a miss", &Calibration::window_instructions,
                   format_count},
    CalibrationRow{"waiting_instructions", "  that may wait for others", &Calibration::waiting_instructions,
                   format_count},
    CalibrationRow{"parallel_misses", "misses at a time", &Calibration::parallel_misses, format_count},
    CalibrationRow{"persist_latency_ns", "persist, store to fence", &Calibration::persist_latency_ns,
                   format_latency},
    CalibrationRow{"read_bandwidth_bps", "read, one core", &Calibration::read_bandwidth_bps,
                   format_bandwidth},
    CalibrationRow{"read_bandwidth_all_bps", "read, all cores", &Calibration::read_bandwidth_all_bps,
                   format_bandwidth},
    CalibrationRow{"copy_bandwidth_bps", "copy, one core", &Calibration::copy_bandwidth_bps,
                   format_bandwidth},
    CalibrationRow{"copy_bandwidth_all_bps", "copy, all cores", &Calibration::copy_bandwidth_all_bps,
                   format_bandwidth},
};

// One line a figure; a spread where `spreads` has one.
inline void print_calibration(const Calibration& calibration, const Spreads& spreads) {
  for (const CalibrationRow& row : kCalibrationRows) {
    const double value = calibration.*row.member;
    if (value <= 0) {
      fmt::print("  {:<26}not measured\n", row.label);
      continue;
    }
    const auto spread = spreads.find(row.key);
    if (spread == spreads.end()) {
      fmt::print("  {:<26}{:>11}\n", row.label, row.format(value));
    } else {
      fmt::print("  {:<26}{:>11}{:>10.1f} %\n", row.label, row.format(value), 100 * spread->second);
    }
  }
}

// The keys of the file; null where a figure was not measured.
inline nlohmann::ordered_json calibration_json(const Calibration& calibration) {
  nlohmann::ordered_json json{
      {"cpu_model", calibration.cpu_model},
      {"boot_id", calibration.boot_id},
      {"clock_hz", calibration.clock_hz},
      {"chase_bytes", static_cast<std::uint64_t>(calibration.chase_bytes)},
      {"huge_pages", calibration.huge_pages},
      {"unstable", calibration.unstable},
      {"base_latency_spread", calibration.base_latency_spread},
  };
  for (const CalibrationRow& row : kCalibrationRows) {
    const double value = calibration.*row.member;
    json[std::string(row.key)] = value > 0 ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
  }
  return json;
}

}  // namespace nvmemu
