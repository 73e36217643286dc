// SPDX-License-Identifier: Apache-2.0
#include "throttle/sweep.h"

#include <algorithm>

#include "throttle/controllers.h"

namespace nvmemu {
namespace {

// From no limit down, so that what goes wrong does so before the machine is slow.
Result<std::vector<CurvePoint>> measure_points(ThermalThrottle& throttle, int node,
                                               const SweepOptions& options) {
  std::vector<int> values = options.values;
  std::sort(values.rbegin(), values.rend());
  std::vector<CurvePoint> points;
  for (const int value : values) {
    if (options.stop && options.stop()) return failure("interrupted: nothing was kept");
    if (options.progress)
      options.progress(value, static_cast<double>(points.size()) / static_cast<double>(values.size()));
    if (auto set = throttle.set(node, value); !set) return tl::unexpected(set.error());
    const auto measured = options.measure(node);
    if (!measured) return tl::unexpected(measured.error());
    points.push_back({value, measured->value, measured->spread});
  }
  return points;
}

}  // namespace

std::vector<int> SweepOptions::default_values() {
  std::vector<int> values;
  for (int value = 0x10; value < 0x100; value += 0x10) values.push_back(value);
  for (int value = 0x100; value <= 0x280; value += 0x20) values.push_back(value);
  values.push_back(kThrottleLimit);
  return values;
}

Result<Curve> sweep(ThermalThrottle& throttle, int node, const SweepOptions& options) {
  auto points = measure_points(throttle, node, options);
  const auto restored = throttle.restore();
  if (!points) return tl::unexpected(points.error());
  if (!restored) return tl::unexpected(restored.error());
  return fit_curve(node, *std::move(points));
}

}  // namespace nvmemu
