// SPDX-License-Identifier: Apache-2.0
#include "epoch/target_latency.h"

#include <algorithm>

#include "base/units.h"

namespace nvmemu {
namespace {

constexpr double kHighestLatencyNs = 1e9;
constexpr double kMeasurementTolerance = 0.05;

}  // namespace

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
