// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/units.h"
#include "report/run_report.h"

namespace nvmemu {
namespace {

std::string counted(std::uint64_t number, const char* one, const char* many) {
  return fmt::format("{} {}", number, number == 1 ? one : many);
}

std::string target_line(const RunReport& report) {
  const double target_ns = report.target.read_latency_ns.value_or(report.base_read_latency_ns);
  return fmt::format("read latency {} -> {}{}, by {} ({}), model {}",
                     format_latency(report.base_read_latency_ns), format_latency(target_ns),
                     report.target_profile.empty() ? "" : fmt::format(" ({})", report.target_profile),
                     report.source_name, report.ticker, report.model);
}

std::string injected_line(const RunReport& report) {
  const RunTotals& totals = report.totals;
  return fmt::format(
      "{} of wall time; of {} of CPU time {} waited for memory; {} injected, in {} of {} in {}",
      format_duration(report.wall_seconds * 1e9), format_duration(totals.cpu_ns),
      format_duration(totals.stall_ns), format_duration(totals.injected_ns),
      counted(totals.epochs, "epoch", "epochs"), counted(totals.threads, "thread", "threads"),
      counted(report.processes.size(), "process", "processes"));
}

std::string error_line(const RunReport& report) {
  if (!report.error_relative_95) return fmt::format("error of the delay: unknown: {}", report.error_from);
  return fmt::format("error of the delay: +-{:.1f} % (95 %), from {}", 100 * *report.error_relative_95,
                     report.error_from);
}

}  // namespace

std::string summary(const RunReport& report) {
  std::string text;
  const auto add = [&text](const std::string& line) { text += "nvmemu: " + line + "\n"; };
  if (report.source_name != "none") add(target_line(report));
  if (!report.processes.empty()) {
    add(injected_line(report));
    add(error_line(report));
  }
  for (const std::string& warning : report.warnings) add("warning: " + warning);
  return text;
}

}  // namespace nvmemu
