// SPDX-License-Identifier: Apache-2.0
#include "report/parameters.h"

#include <fmt/format.h>

#include <array>

#include "output/names.h"

namespace nvmemu::pmbench {
namespace {

std::string pattern_of(const RunResult& result) {
  std::string text;
  for (const Phase& phase : result.options.phases) {
    if (!text.empty()) text += ",";
    text += phase.pattern;
    if (result.options.phases.size() > 1) text += fmt::format(":{}s", phase.seconds);
  }
  return text;
}

std::string shape_of(const RunResult& result) {
  std::string text;
  for (const Phase& phase : result.options.phases) {
    // As exact as XML has it, so that both files of a run are of the same parameters.
    text += fmt::format("{}{:.4f}", text.empty() ? "" : ",", phase.shape);
  }
  return text;
}

// Which `auto` was makes a difference.
std::string swap_device_of(const RunResult& result) {
  return is_made(result.options.swap_device) && is_made(result.swap_taken.kind) ? result.swap_taken.kind
                                                                                : result.options.swap_device;
}

template <typename T>
std::string optional_text(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "";
}

template <auto kMember>
std::string option(const RunResult& result) {
  const auto& value = result.options.*kMember;
  using T = std::remove_cvref_t<decltype(value)>;
  if constexpr (std::is_enum_v<T>) {
    return std::string(name_of(value));
  } else {
    return fmt::format("{}", value);
  }
}

constexpr std::array kParameters{
    Parameter{"pattern", pattern_of},
    Parameter{"shape", shape_of},
    Parameter{"duration_s", option<&Options::duration_s>},
    Parameter{"map_mib", option<&Options::map_mib>},
    Parameter{"set_mib", option<&Options::set_mib>},
    Parameter{"jobs", option<&Options::jobs>},
    Parameter{"read_percent", option<&Options::read_percent>},
    Parameter{"access", option<&Options::access>},
    Parameter{"offset", option<&Options::offset>},
    Parameter{"delay_cycles", option<&Options::delay_cycles>},
    Parameter{"timestamp", option<&Options::timestamp>},
    Parameter{"cold", option<&Options::cold>},
    Parameter{"initialize", option<&Options::initialize>},
    Parameter{"write_needs_read", option<&Options::write_needs_read>},
    Parameter{"memory", option<&Options::memory>},
    Parameter{"huge_pages", option<&Options::huge_pages>},
    Parameter{"page_bytes", option<&Options::page_bytes>},
    Parameter{"numa", option<&Options::numa>},
    Parameter{"compressible_percent",
              [](const RunResult& result) { return optional_text(result.options.compressible_percent); }},
    Parameter{"memory_limit_bytes",
              [](const RunResult& result) { return optional_text(result.options.memory_limit_bytes); }},
    Parameter{"page_cluster",
              [](const RunResult& result) { return optional_text(result.options.page_cluster); }},
    Parameter{"swap_device", swap_device_of},
    Parameter{"swap_profile", option<&Options::swap_profile>},
    Parameter{"swap_latency_ns", option<&Options::swap_latency_ns>},
    Parameter{"eater_bytes", option<&Options::eater_bytes>},
    Parameter{"trace_file", option<&Options::trace_file>},
    Parameter{"fence", option<&Options::fence>},
    Parameter{"hostname", [](const RunResult& result) { return result.machine.hostname; }},
    Parameter{"release", [](const RunResult& result) { return result.machine.release; }},
    Parameter{"cpu_model", [](const RunResult& result) { return result.machine.cpu_model; }},
};

}  // namespace

std::span<const Parameter> parameters() { return kParameters; }

}  // namespace nvmemu::pmbench
