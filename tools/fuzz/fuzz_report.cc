// SPDX-License-Identifier: Apache-2.0
// Whatever the bytes: an error that says something, or a report that can be written, read, printed and
// merged. Tried as they are, and as fields of a report that is in order.
#include <cmath>
#include <nlohmann/json.hpp>

#include "fuzzing.h"
#include "report/merge_reports.h"
#include "report/report_reader.h"
#include "report/test/example_report.h"

using namespace nvmemu;
using namespace nvmemu::fuzzing;

namespace {

using nlohmann::json;

RunReport example() {
  RunReport report = example_report();
  report.bandwidth.is_measured = true;
  report.bandwidth.by = "governor";
  report.bandwidth.read_bytes = 3e9;
  report.bandwidth.read_reached_bps = 3.75e9;
  report.bandwidth.error_relative_95 = 0.125;
  report.bandwidth.over_time = {0.5, {{1e9, 5e8, 0}, {2e9, 5e8, 0}}};
  report.walks = {310, 912000, {{"system call", 9}}};
  report.alternation.window_seconds = 0.5;
  report.alternation.windows = {
      {false, 0, 0.5, 1000, 0.03}, {true, 0.5, 0.5, 400, 0.03}, {false, 1, 0.5, 1000, 0}};
  report.alternation.slowdown = {2.5, 2.4, 2.6, 1};
  return report;
}

// Fields of the example, at any depth, with what the input has: JSON where it is, else a text.
std::string with_fields_of(std::string_view input) {
  static const json whole = json::parse(to_json(example()));
  static const json flat = whole.flatten();
  json changed = whole;
  for_each_choice(input, [&changed](std::size_t choice, std::string_view text) {
    const auto field = std::next(flat.begin(), static_cast<std::ptrdiff_t>(choice % flat.size()));
    json value = json::parse(text, nullptr, false);
    if (value.is_discarded()) value = std::string(text);
    changed[json::json_pointer(field.key())] = std::move(value);
  });
  return changed.dump(-1, ' ', false, json::error_handler_t::replace);
}

void check(std::string_view text) {
  const auto report = parse_report(text);
  if (!report) return require_error(report.error());
  require(printable_lines(summary(*report)) == summary(*report));
  const std::string written = to_json(*report);
  require(printable_lines(written) == written);
  const auto again = parse_report(written);
  require(again.has_value() && again->totals.threads == report->totals.threads);
  const auto one = merge_reports({*report});
  require(one.has_value() && !to_json(*one).empty());
  const auto twice = merge_reports({*report, *report});
  if (!twice) return require_error(twice.error());
  require(twice->totals.epochs == 2 * report->totals.epochs);
  require(std::isfinite(twice->totals.cpu_ns) && std::isfinite(twice->base_read_latency_ns));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check(text_of(data, size));
  check(with_fields_of(text_of(data, size)));
  return 0;
}
