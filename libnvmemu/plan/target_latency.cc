// SPDX-License-Identifier: Apache-2.0
#include "plan/target_latency.h"

#include <algorithm>
#include <optional>

#include "base/decimal.h"
#include "base/quote.h"
#include "base/units.h"

namespace nvmemu {
namespace {

constexpr double kHighestLatencyNs = 1e9;
constexpr double kMeasurementTolerance = 0.05;
constexpr double kHighestMultiple = 1e6;

}  // namespace

Result<TargetLatency> parse_target_latency(std::string_view text) {
  if (text.empty() || text.back() != 'x') {
    const Result<double> latency_ns = parse_latency_ns(text);
    if (!latency_ns) return tl::unexpected(latency_ns.error());
    return TargetLatency{*latency_ns, 0};
  }
  const std::optional<double> multiple = parse_decimal(text.substr(0, text.size() - 1));
  if (!multiple || *multiple < 1 || *multiple > kHighestMultiple) {
    return failure(quote(text) + ": a multiple of the base latency is a number from 1 to 1000000 and an x",
                   "write 2x or 1.5x; emulation can only slow down");
  }
  return TargetLatency{0, *multiple};
}

std::string format_target_latency(const TargetLatency& target) {
  if (target.multiple > 0) return to_decimal(target.multiple) + "x";
  return target.ns > 0 ? to_decimal(target.ns) + "ns" : std::string();
}

Result<double> reachable_target_ns(double target_ns, double base_ns, const std::string& asks) {
  if (target_ns > kHighestLatencyNs)
    return failure(asks + " " + format_duration(target_ns) + ", which is more than 1 s");
  if (target_ns < (1 - kMeasurementTolerance) * base_ns)
    return failure(asks + " " + format_latency(target_ns) + ", and this machine's memory already takes " +
                       format_latency(base_ns) + "; emulation can only slow down",
                   "ask for more, or for a multiple of it: 2x");
  return std::max(target_ns, base_ns);
}

}  // namespace nvmemu
