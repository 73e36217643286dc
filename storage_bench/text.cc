// SPDX-License-Identifier: Apache-2.0
#include "storage_bench/text.h"

#include <fmt/format.h>

#include "base/units.h"

namespace nvmemu::storage_bench {
namespace {

constexpr double kMegabyte = 1e6;

double per_second(std::uint64_t amount, double seconds) {
  return seconds > 0 ? static_cast<double>(amount) / seconds : 0;
}

std::string megabytes(std::uint64_t bytes, double seconds) {
  return bytes == 0 ? "-" : fmt::format("{:.1f}", per_second(bytes, seconds) / kMegabyte);
}

std::string row_of(const char* name, const OperationTally& tally, double seconds) {
  const pmbench::LatencyCounts& latencies = tally.latencies;
  return fmt::format("  {:<10}{:>10}{:>11}{:>11}{:>11}{:>11}{:>11}{:>10}\n", name, latencies.count,
                     format_latency(latencies.mean_ns()), format_latency(latencies.percentile_ns(0.5)),
                     format_latency(latencies.percentile_ns(0.99)),
                     format_latency(latencies.percentile_ns(0.999)),
                     format_latency(static_cast<double>(latencies.max_ns)), megabytes(tally.bytes, seconds));
}

}  // namespace

std::string describe(const Parameters& parameters) {
  return fmt::format("{} files of {} in the mean, {} {}", parameters.files,
                     format_size(parameters.mean_file_bytes), parameters.threads,
                     parameters.threads == 1 ? "thread" : "threads");
}

std::string text_report(const FlowResult& result) {
  std::string text =
      fmt::format("{}: {}; {} were made in {}\n", result.flow->name, describe(result.parameters),
                  format_size(result.bytes_at_start), format_duration(result.preparing_seconds * 1e9));
  if (result.interrupted) text += "  interrupted: the figures are of the time until then\n";
  text += fmt::format("  {:<10}{:>10}{:>11}{:>11}{:>11}{:>11}{:>11}{:>10}\n", "operation", "count", "mean",
                      "50 %", "99 %", "99.9 %", "max", "MB/s");
  for (const NamedAction& one : actions()) {
    if (const OperationTally tally = result.of(one.action); tally.latencies.count > 0)
      text += row_of(one.name, tally, result.seconds);
  }
  return text + fmt::format("  {:.0f} operations/s for {:.2f} s; {:.1f} MB/s read, {:.1f} MB/s written\n",
                            per_second(result.count(), result.seconds), result.seconds,
                            per_second(result.read_bytes(), result.seconds) / kMegabyte,
                            per_second(result.written_bytes(), result.seconds) / kMegabyte);
}

}  // namespace nvmemu::storage_bench
