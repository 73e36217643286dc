// SPDX-License-Identifier: Apache-2.0
// What `nvmemu predict` prints for people.
#include <fmt/format.h>

#include <string>

#include "base/quote.h"
#include "base/units.h"
#include "predicted.h"
#include "terminal.h"

namespace nvmemu {
namespace {

std::string in_seconds(double ns) { return fmt::format("{:.3f}", ns / 1e9); }

std::string latency_text(double latency_ns, const std::string& name) {
  return format_latency(latency_ns) + (name.empty() ? "" : fmt::format(" ({})", printable(name)));
}

// A row's figures, behind 28 columns that say what of.
std::string times_text(const Prediction& found, const std::optional<double>& error_ns, bool bounds) {
  std::string text = fmt::format("{:>11}{:>11}{:>10}{:>11.2f}", in_seconds(found.wall_ns()),
                                 in_seconds(found.delay.expected_ns),
                                 error_ns ? "+-" + in_seconds(*error_ns) : "?", found.slowdown());
  if (bounds) {
    text += fmt::format("   {} to {}", in_seconds(found.native_ns + found.delay.least_ns),
                        in_seconds(found.native_ns + found.delay.most_ns));
  }
  return text;
}

void print_heading(const std::string& first, bool bounds) {
  fmt::print("{}\n", styled(stdout, Style::kBold,
                            fmt::format("  {:<28}{:>11}{:>11}{:>10}{:>11}{}", first, "time (s)", "delay (s)",
                                        "error (s)", "slowdown", bounds ? "   bounds (s)" : "")));
}

std::string placed_text(const PlacedTarget& target) {
  const std::string size = format_size(static_cast<std::uint64_t>(target.dram_bytes));
  const std::string slow = fmt::format(" {:.0f} %", 100 * target.slow.of_all);
  switch (target.by) {
    case PlacedBy::kHeat:
      return size + ", hottest:" + slow;
    case PlacedBy::kFirstTouch:
      return size + ", first touched:" + slow;
    case PlacedBy::kInterleave:
      return "interleaved " + target.interleave + ":" + slow;
    case PlacedBy::kFiles:
      return "all but its files:" + slow;
    case PlacedBy::kBlocks:
      return "all but its blocks:" + slow;
    case PlacedBy::kNode:
      return fmt::format("all but node {}:", target.owner.node) + slow;
    case PlacedBy::kNothing:
      break;
  }
  return "none:" + slow;
}

// The memories that stand out.
void print_mappings(const PlacedMemory& memory, double stall_ns) {
  constexpr std::size_t kMost = 3;
  constexpr double kLeastShare = 0.05;
  std::size_t printed = 0;
  for (const WaitedMapping& mapping : memory.mappings()) {
    const double share = stall_ns > 0 ? mapping.stall_ns / stall_ns : 0;
    if (printed++ == kMost || share < kLeastShare) return;
    fmt::print("  {:.0f} % of it for {}, {}\n", 100 * share,
               mapping.name.empty() ? fmt::format("memory at {:#x}", mapping.begin) : printable(mapping.name),
               format_size(static_cast<std::uint64_t>(mapping.bytes)));
  }
}

void print_placed(const Predicted& predicted, bool bounds) {
  const PlacedMemory& memory = predicted.memory;
  fmt::print("  {} in memory, in {}; which was waited for is known of {:.1f} % of the stall time\n",
             format_size(static_cast<std::uint64_t>(memory.bytes())),
             counted(memory.regions(), "region of 2 MiB", "regions of 2 MiB"),
             100 * (1 - memory.unknown_share()));
  print_mappings(memory, totals_of(predicted.record).stall_ns);
  std::string before;
  for (const PlacedTarget& target : predicted.placed) {
    const std::string heading = fmt::format("DRAM beside {}: waits for that", target.tier);
    if (heading != before) {
      fmt::print("  {} is of {}:\n", target.tier, latency_text(target.latency_ns, target.memory));
      print_heading(heading, bounds);
    }
    before = heading;
    fmt::print("  {:<28}{}\n", placed_text(target), times_text(target.prediction, target.error_ns, bounds));
  }
}

}  // namespace

void print_prediction_table(const Predicted& predicted) {
  const Record& record = predicted.record;
  const RecordTotals totals = totals_of(record);
  const bool bounds = totals.threads > 1;
  fmt::print("{}\n", styled(stdout, Style::kBold, quote(record.info.command)));
  fmt::print("  {} in {}; of {} of CPU time {} waited for memory of {}; by {}, model {}\n",
             counted(totals.threads, "thread", "threads"),
             counted(record.processes.size(), "process", "processes"), format_duration(totals.cpu_ns),
             format_duration(totals.stall_ns), format_latency(record.info.base_ns),
             printable(record.info.source), predicted.model->name);
  fmt::print("  recorded in {} s, of which measuring took {} s; error of the delay: {}\n",
             in_seconds(record.wall_ns), in_seconds(record.wall_ns - predicted.native_ns),
             predicted.error.relative_95
                 ? fmt::format("+-{:.1f} % (95 %), from {}", 100 * *predicted.error.relative_95,
                               predicted.error.from)
                 : "unknown: " + predicted.error.from);
  print_heading("memory", bounds);
  fmt::print("  {:<28}{:>11}{:>11}{:>10}{:>11.2f}\n", "this machine's", in_seconds(predicted.native_ns), "-",
             "-", 1.0);
  for (const Target& target : predicted.targets) {
    fmt::print("  {:<28}{}\n", latency_text(target.latency_ns, target.name),
               times_text(target.prediction, target.error_ns, bounds));
  }
  if (!predicted.placed.empty()) print_placed(predicted, bounds);
}

}  // namespace nvmemu
