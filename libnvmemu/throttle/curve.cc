// SPDX-License-Identifier: Apache-2.0
#include "throttle/curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <span>
#include <sstream>

#include "base/hash.h"
#include "base/quote.h"
#include "base/units.h"
#include "throttle/controllers.h"
#include "throttle/files.h"

namespace nvmemu {
namespace {

constexpr double kLinearWithin = 0.05;
constexpr std::size_t kFewestPoints = 3;
// Of the bandwidth, between the ends of the linear part: a quarter of what the values rise by, if that is
// more than the first, and the second at most. What rises by less is the noise of the measurement.
constexpr double kLeastRise = 1.2;
constexpr double kPlainRise = 2;
constexpr double kMostBps = 1e15;
constexpr double kMostSpread = 1e6;
constexpr int kMostNode = 65535;
constexpr std::string_view kHeader = "nvmemu-throttle-curve-1";

struct Line {
  double slope, offset;
};

Line fit_line(std::span<const CurvePoint> points) {
  double x = 0, y = 0, xx = 0, xy = 0;
  for (const CurvePoint& point : points) {
    x += point.value;
    y += point.bps;
    xx += static_cast<double>(point.value) * point.value;
    xy += point.value * point.bps;
  }
  const auto n = static_cast<double>(points.size());
  const double divisor = n * xx - x * x;
  const double slope = divisor > 0 ? (n * xy - x * y) / divisor : 0;
  return {slope, (y - slope * x) / n};
}

double least_rise(const Curve& curve) {
  const double values_rise = static_cast<double>(curve.linear_last) / std::max(curve.linear_first, 1);
  return std::clamp(1 + (values_rise - 1) / 4, kLeastRise, kPlainRise);
}

bool is_straight(std::span<const CurvePoint> points, const Line& line) {
  return std::all_of(points.begin(), points.end(), [&line](const CurvePoint& point) {
    return std::fabs(line.offset + line.slope * point.value - point.bps) <= kLinearWithin * point.bps;
  });
}

bool is_value(int value) { return value >= 0 && value <= kThrottleLimit; }
bool is_rate(double bps) { return bps >= 0 && bps <= kMostBps; }

// A bandwidth is turned into a value by division, and the other way round.
bool makes_sense(const Curve& curve) {
  return curve.node >= 0 && curve.node <= kMostNode && curve.slope_bps >= 1 && is_rate(curve.slope_bps) &&
         is_rate(std::fabs(curve.offset_bps)) && is_value(curve.linear_first) &&
         is_value(curve.linear_last) && curve.linear_first <= curve.linear_last && is_rate(curve.highest_bps);
}

bool parse_line(const std::string& line, Curves& curves) {
  std::istringstream words(line);
  std::string key;
  words >> key;
  if (key == "machine") {
    std::getline(words >> std::ws, curves.machine);
    return true;
  }
  if (key == "node") {
    Curve& curve = curves.nodes.emplace_back();
    words >> curve.node >> curve.slope_bps >> curve.offset_bps >> curve.linear_first >> curve.linear_last >>
        curve.highest_bps;
    return !words.fail() && makes_sense(curve);
  }
  if (key != "point" || curves.nodes.empty()) return false;
  CurvePoint point{};
  words >> point.value >> point.bps >> point.spread;
  if (words.fail() || !is_value(point.value) || !is_rate(point.bps) ||
      !(point.spread >= 0 && point.spread <= kMostSpread))
    return false;
  curves.nodes.back().points.push_back(point);
  return true;
}

}  // namespace

Result<Curve> fit_curve(int node, std::vector<CurvePoint> points) {
  std::sort(points.begin(), points.end(),
            [](const CurvePoint& a, const CurvePoint& b) { return a.value < b.value; });
  Curve curve;
  curve.node = node;
  for (const CurvePoint& point : points) curve.highest_bps = std::max(curve.highest_bps, point.bps);
  std::size_t straight = 0;
  for (std::size_t count = kFewestPoints; count <= points.size(); ++count) {
    const std::span<const CurvePoint> start(points.data(), count);
    const Line line = fit_line(start);
    if (!is_straight(start, line)) break;
    straight = count;
    curve.slope_bps = line.slope;
    curve.offset_bps = line.offset;
  }
  if (straight == 0)
    return failure(
        fmt::format("node {}: the bandwidth does not follow the registers in a straight line", node),
        "try again at a quieter time, and nothing else on the machine");
  curve.linear_first = points.front().value;
  curve.linear_last = points[straight - 1].value;
  if (curve.at(curve.linear_last) < least_rise(curve) * curve.at(curve.linear_first))
    return failure(
        fmt::format("node {}: the registers do not change the bandwidth: {} at {:#x}, {} at {:#x}", node,
                    format_bandwidth(points.front().bps), points.front().value,
                    format_bandwidth(points.back().bps), points.back().value),
        "the firmware may have locked them, or throttle by other means (look for 'thermal throttling' in "
        "its memory settings)");
  curve.points = std::move(points);
  return curve;
}

Result<int> value_for(const Curve& curve, double bytes_per_second) {
  const std::string wanted = format_bandwidth(bytes_per_second);
  if (bytes_per_second > curve.highest_bps)
    return failure(fmt::format("{} is above what node {} of this machine reaches, {}", wanted, curve.node,
                               format_bandwidth(curve.highest_bps)),
                   "memory can only be made slower");
  const double lowest = curve.at(curve.linear_first), highest = curve.at(curve.linear_last);
  if (bytes_per_second < lowest || bytes_per_second > highest)
    return failure(
        fmt::format("{} is outside of what the registers set in a straight line on node {}: {} to {}", wanted,
                    curve.node, format_bandwidth(lowest), format_bandwidth(highest)),
        "give the register's value instead: --value");
  return static_cast<int>(std::lround((bytes_per_second - curve.offset_bps) / curve.slope_bps));
}

const Curve* Curves::find(int node) const {
  const auto found =
      std::find_if(nodes.begin(), nodes.end(), [node](const Curve& curve) { return curve.node == node; });
  return found == nodes.end() ? nullptr : &*found;
}

void Curves::put(Curve curve) {
  std::erase_if(nodes, [&curve](const Curve& old) { return old.node == curve.node; });
  nodes.push_back(std::move(curve));
  std::sort(nodes.begin(), nodes.end(), [](const Curve& a, const Curve& b) { return a.node < b.node; });
}

std::string serialize(const Curves& curves) {
  std::string text = fmt::format("{}\nmachine {}\n", kHeader, curves.machine);
  for (const Curve& curve : curves.nodes) {
    text += fmt::format("node {} {} {} {} {} {}\n", curve.node, curve.slope_bps, curve.offset_bps,
                        curve.linear_first, curve.linear_last, curve.highest_bps);
    for (const CurvePoint& point : curve.points)
      text += fmt::format("point {} {} {}\n", point.value, point.bps, point.spread);
  }
  return text;
}

Result<Curves> parse_curves(std::string_view text) {
  std::istringstream lines{std::string(text)};
  std::string line;
  std::getline(lines, line);
  if (line != kHeader) return failure("it does not start with " + std::string(kHeader));
  Curves curves;
  while (std::getline(lines, line)) {
    if (!parse_line(line, curves)) return failure("it has a line that nvmemu does not write: " + quote(line));
  }
  return curves;
}

std::string curves_path(const std::string& folder, const std::string& machine) {
  return folder + "/throttle-curve-" + hash_of(machine);
}

Result<Curves> load_curves(const std::string& folder, const std::string& machine) {
  const char* hint = "measure it: nvmemu throttle calibrate; or give the register's value: --value";
  const std::string path = curves_path(folder, machine);
  const auto text = read_file(path);
  if (!text && errno == ENOENT)
    return failure(
        "what bandwidth the registers' values stand for was not measured on this machine with the DIMMs "
        "that it has",
        hint);
  if (!text) return failure("cannot read " + path + ": " + std::strerror(errno), "run it as root");
  auto curves = parse_curves(*text);
  if (!curves) return failure(path + ": " + curves.error().message, hint);
  if (curves->machine != machine) return failure(path + " is of another machine", hint);
  return curves;
}

}  // namespace nvmemu
