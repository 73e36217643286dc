// SPDX-License-Identifier: Apache-2.0
// The figures of a run of touches, as a table: each has a key (CSV), a label, a unit, and a function that
// finds it. Text, CSV and averages go through it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "measure/statistics.h"
#include "output/unit_text.h"
#include "touch/touch_result.h"

namespace nvmemu::pmbench {

enum class TouchSection : std::uint8_t { kLatency, kTime, kReclaim };

struct TouchFigure {
  const char* key;
  const char* label;
  Unit unit;
  TouchSection section;
  std::optional<double> (*of)(const TouchRun&);  // nothing where it does not apply
};
std::span<const TouchFigure> touch_figures();

// Of the runs that have it.
Estimate estimate_of(const TouchFigure& figure, const TouchCase& one);
// "1.2 us +- 0.1 us", or "-".
std::string text_of(const TouchFigure& figure, const Estimate& estimate);

// The share of the time that the slowest `share` of them took, in (0, 1]; of none: 0.
double time_share_of_slowest(const LatencyCounts& counts, double share);

}  // namespace nvmemu::pmbench
