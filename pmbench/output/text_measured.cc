// SPDX-License-Identifier: Apache-2.0
// Lines that the original does not have. None may look like one of its: no parser of those shall find two.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/units.h"
#include "output/swap_text.h"
#include "output/text_parts.h"
#include "output/totals.h"

namespace nvmemu::pmbench {
namespace {

struct Row {
  std::string_view label;
  double (*ns)(const LatencyCounts&);
};

template <int kPerHundredThousand>
double percentile(const LatencyCounts& counts) {
  return counts.percentile_ns(kPerHundredThousand / 1e5);
}

constexpr std::array<Row, 10> kRows{{
    {"mean", [](const LatencyCounts& counts) { return counts.mean_ns(); }},
    {"mode", [](const LatencyCounts& counts) { return counts.mode_ns(); }},
    {"min", [](const LatencyCounts& counts) { return static_cast<double>(counts.min_ns); }},
    {"p50", percentile<50000>},
    {"p90", percentile<90000>},
    {"p99", percentile<99000>},
    {"p99.9", percentile<99900>},
    {"p99.99", percentile<99990>},
    {"p99.999", percentile<99999>},
    {"max", [](const LatencyCounts& counts) { return static_cast<double>(counts.max_ns); }},
}};

std::string cell(const LatencyCounts& counts, const Row& row) {
  return counts.count == 0 ? "-" : format_latency(row.ns(counts));
}

std::string latency_table(const Totals& totals) {
  std::string text = fmt::format("{:<10}{:>16}{:>16}{:>16}\n", "latency", "all", "reads", "writes");
  const auto add = [&text](std::string_view label, const std::array<std::string, 3>& cells) {
    text += fmt::format("{:<10}{:>16}{:>16}{:>16}\n", label, cells[0], cells[1], cells[2]);
  };
  add("accesses", {std::to_string(totals.all.count), std::to_string(totals.reads.count),
                   std::to_string(totals.writes.count)});
  for (const Row& row : kRows) {
    add(row.label, {cell(totals.all, row), cell(totals.reads, row), cell(totals.writes, row)});
  }
  return text;
}

std::string class_table(const Totals& totals) {
  constexpr std::array<std::string_view, kAccessClasses> kLabels{"hit", "minor fault", "major fault"};
  std::string text = fmt::format("{:<12}{:>14}{:>14}{:>14}{:>14}{:>14}\n", "class", "accesses", "mean",
                                 "mode", "p50", "p99");
  for (std::size_t i = 0; i < kAccessClasses; ++i) {
    const LatencyCounts& counts = totals.classes[i];
    const auto latency = [&](double ns) { return counts.count == 0 ? "-" : format_latency(ns); };
    text += fmt::format("{:<12}{:>14}{:>14}{:>14}{:>14}{:>14}\n", kLabels[i], counts.count,
                        latency(counts.mean_ns()), latency(counts.mode_ns()),
                        latency(counts.percentile_ns(0.5)), latency(counts.percentile_ns(0.99)));
  }
  return text + "Of a sample of the accesses, whose pages were looked up before.\n";
}

std::string fault_lines(const RunResult& result, const Totals& totals) {
  std::string text;
  if (!result.from_bands) {
    text +=
        fmt::format("faults of the process (rusage): {} major, {} minor; {} of them the benchmark's own\n",
                    result.major_faults, result.minor_faults, totals.own_faults);
  }
  if (totals.vmstat_major_faults) {
    text += fmt::format("faults of the machine (vmstat): {} major\n", *totals.vmstat_major_faults);
  }
  return text;
}

// What requests were held for; nothing where nobody counted them.
std::string held_line(const RunResult& result) {
  const DelayCounts& swap = result.swap;
  if (swap.reads + swap.writes == 0) return {};
  const std::string like = result.options.swap_profile.empty()
                               ? format_latency(result.options.swap_latency_ns)
                               : result.options.swap_profile;
  return fmt::format(
      "swap device {} as {}: {} reads of {} each, {} writes of {} each; 95 % late by no more than {}; {} "
      "took longer "
      "natively\n",
      is_made(result.swap_taken.kind) ? result.swap_taken.kind : result.options.swap_device, like, swap.reads,
      format_latency(swap.read_ns), swap.writes, format_latency(swap.write_ns),
      format_latency(swap.late_p95_ns), swap.overdue);
}

// What a fault takes beyond the device is the kernel's: of the middle one, and of the most usual.
std::string swap_lines(const RunResult& result, const Totals& totals) {
  std::string text;
  if (!result.swap_taken.kind.empty()) text = fmt::format("swap to {}\n", swap_text(result.swap_taken));
  const std::string held = held_line(result);
  text += held;
  const bool is_timed = result.swap_taken.held_by == "timer";
  const LatencyCounts& major = totals.classes[static_cast<std::size_t>(AccessClass::kMajorFault)];
  if (major.count == 0 || result.options.swap_latency_ns <= 0) return text;  // a profile's latencies differ
  if (held.empty() && !is_timed) return text;
  const double device_ns = is_timed ? result.options.swap_latency_ns : result.swap.read_ns;
  return text + fmt::format("major fault less device: mean {}, p50 {}, mode {}\n",
                            format_latency(std::max(1.0, major.mean_ns() - device_ns)),
                            format_latency(std::max(1.0, major.percentile_ns(0.5) - device_ns)),
                            format_latency(std::max(1.0, major.mode_ns() - device_ns)));
}

// Of `nvmemu run --alternate`.
std::string window_lines(const RunResult& result) {
  std::string text;
  for (const bool has_delays : {false, true}) {
    std::string each;
    for (const double rate : rates_of(result.windows, has_delays)) each += fmt::format(" {:.0f}", rate);
    if (!each.empty())
      text += fmt::format("by window, delays {}, accesses per second:{}\n", has_delays ? "on" : "off", each);
  }
  return text;
}

bool has_classes(const Totals& totals) {
  for (const LatencyCounts& counts : totals.classes) {
    if (counts.count > 0) return true;
  }
  return false;
}

}  // namespace

std::string measured_lines(const RunResult& result) {
  const Totals totals = totals_of(result);
  std::string text =
      fmt::format("accesses per second: {:.0f}, of {} {} over {:.3f} s\n", totals.accesses_per_s,
                  result.threads.size(), result.threads.size() == 1 ? "thread" : "threads", result.seconds);
  text += window_lines(result);
  if (totals.all.count > 0) text.append("\n").append(latency_table(totals)).append("\n");
  if (has_classes(totals)) text += class_table(totals) + "\n";
  text +=
      fmt::format("timer: {} a pair of readings, taken off each latency\n", format_latency(result.timer_ns));
  text += fault_lines(result, totals) + swap_lines(result, totals);
  text += fmt::format("migrations seen: {}\n", totals.migrations);
  for (const std::string& warning : result.warnings) text += fmt::format("warning: {}\n", warning);
  return text;
}

}  // namespace nvmemu::pmbench
