// SPDX-License-Identifier: Apache-2.0
#include "bandwidth_limit.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"

namespace nvmemu {
namespace {

// Two measurements of a bandwidth may differ by so much.
constexpr double kMeasurementTolerance = 0.1;

double reachable_one(const char* what, double target_bps, double native_bps,
                     std::vector<std::string>& warnings) {
  if (target_bps <= 0 || native_bps <= 0 || target_bps < (1 + kMeasurementTolerance) * native_bps)
    return target_bps;
  warnings.push_back(
      fmt::format("{} bandwidth is not limited: the target, {}, is above what this machine reaches, {}", what,
                  format_bandwidth(target_bps), format_bandwidth(native_bps)));
  return 0;
}

}  // namespace

NativeBandwidth native_bandwidth(const Calibration& calibration) {
  return {std::max(calibration.read_bandwidth_all_bps, calibration.copy_bandwidth_all_bps),
          calibration.copy_bandwidth_all_bps};
}

BandwidthTarget reachable(const BandwidthTarget& target, const NativeBandwidth& native,
                          std::vector<std::string>& warnings) {
  return {reachable_one("read", target.read_bps, native.read_bps, warnings),
          reachable_one("write", target.write_bps, native.write_bps, warnings)};
}

}  // namespace nvmemu
