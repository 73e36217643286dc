// SPDX-License-Identifier: Apache-2.0
// What bandwidth each value of the thermal registers leaves a node, as measured; and its linear part, by
// which a bandwidth is turned into a value ("The measured memory bandwidth changes linearly as a function of
// specified register values, until the application's maximum attainable bandwidth is reached": NVMpro, ICPE
// 2015, figure 3).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nvmemu {

struct CurvePoint {
  int value;      // of the registers
  double bps;     // of STREAM's copy: bytes read plus bytes written a second
  double spread;  // (largest - smallest) / median of the repetitions
};

struct Curve {
  int node = 0;
  double slope_bps = 0;  // bandwidth = offset + slope * value,
  double offset_bps = 0;
  int linear_first = 0;            // from this value
  int linear_last = 0;             // to this one
  double highest_bps = 0;          // of all points: what the node reaches
  std::vector<CurvePoint> points;  // by value

  double at(int value) const { return offset_bps + slope_bps * value; }
};

// The longest stretch from the lowest value on along which a straight line (least squares) misses no point by
// more than 5 % of it. Fails where there is none of three points, or the registers change nothing.
Result<Curve> fit_curve(int node, std::vector<CurvePoint> points);

// The value that leaves the node so much. Fails outside of the linear part; above what the node reaches it
// says so.
Result<int> value_for(const Curve& curve, double bytes_per_second);

// Of one machine with the DIMMs that it had.
struct Curves {
  std::string machine;  // as machine_text() in dimm_population.h
  std::vector<Curve> nodes;

  const Curve* find(int node) const;
  void put(Curve curve);
};

std::string serialize(const Curves& curves);
Result<Curves> parse_curves(std::string_view text);

// The file of a machine with these DIMMs, under throttle_folder().
std::string curves_path(const std::string& folder, const std::string& machine);

// Fails, with the hint to calibrate, where there is none.
Result<Curves> load_curves(const std::string& folder, const std::string& machine);

}  // namespace nvmemu
