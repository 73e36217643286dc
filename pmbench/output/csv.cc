// SPDX-License-Identifier: Apache-2.0
#include "output/csv.h"

#include <fmt/format.h>

#include <algorithm>

#include "output/files.h"
#include "output/totals.h"

namespace nvmemu::pmbench {
namespace {

std::vector<std::string> counter_names(const std::vector<SeriesPoint>& series) {
  std::vector<std::string> names;
  for (const SeriesPoint& point : series) {
    for (const auto& [name, value] : point.counters) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

std::string counter_of(const SeriesPoint& point, const std::string& wanted) {
  for (const auto& [name, value] : point.counters) {
    if (name == wanted) return fmt::format("{}", value);
  }
  return "";
}

}  // namespace

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string to_csv(const RunResult& result) {
  const Totals totals = totals_of(result);
  std::string text = "begin_ns,end_ns,reads,writes,classed_hits,classed_minor_faults,classed_major_faults\n";
  for (std::size_t i = 0; i < Buckets::kCount; ++i) {
    const auto& [hits, minor, major] = totals.classes;
    const std::array row{totals.reads.counts[i], totals.writes.counts[i], hits.counts[i], minor.counts[i],
                         major.counts[i]};
    if (std::ranges::all_of(row, [](std::uint64_t count) { return count == 0; })) continue;
    const std::string end = i + 1 < Buckets::kCount ? std::to_string(Buckets::begin_ns(i + 1)) : "";
    text += fmt::format("{},{},{}\n", Buckets::begin_ns(i), end, fmt::join(row, ","));
  }
  return text;
}

Result<void> write_csv(const RunResult& result, const std::string& path) {
  return write_file(path, to_csv(result));
}

std::string to_series_csv(const RunResult& result) {
  const std::vector<std::string> counters = counter_names(result.series);
  std::string text =
      "at_s,seconds,phase,accesses,accesses_per_s,p50_ns,p99_ns,max_ns,minor_faults,major_faults";
  for (const std::string& name : counters) text.append(",").append(csv_field(name));
  text += "\n";
  for (const SeriesPoint& point : result.series) {
    const double rate = point.seconds > 0 ? static_cast<double>(point.accesses) / point.seconds : 0;
    text += fmt::format("{:.3f},{:.3f},{},{},{:.1f},{:.1f},{:.1f},{:.1f},{},{}", point.at_s, point.seconds,
                        csv_field(point.phase), point.accesses, rate, point.p50_ns, point.p99_ns,
                        point.max_ns, point.minor_faults, point.major_faults);
    for (const std::string& name : counters) text.append(",").append(counter_of(point, name));
    text += "\n";
  }
  return text;
}

Result<void> write_series_csv(const RunResult& result, const std::string& path) {
  return write_file(path, to_series_csv(result));
}

}  // namespace nvmemu::pmbench
