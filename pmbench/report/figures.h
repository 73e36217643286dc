// SPDX-License-Identifier: Apache-2.0
// The figures that runs are compared by, as a table: each has a key (JSON and CSV), a label, a unit, and a
// function that finds it. Text, JSON, CSV and averages all go through it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "output/unit_text.h"
#include "report/major_faults.h"

namespace nvmemu::pmbench {

// A run with what its figures are found from.
struct RunView {
  RunResult result;
  Totals totals;
  MajorFaults major;
  std::optional<double> medium_ns;  // of the device that is paged to
};

RunView view_of(RunResult result, std::optional<double> medium_ns);

enum class Section : std::uint8_t { kComparison, kPaging, kTimeSpent };

struct Figure {
  const char* key;
  const char* label;
  Unit unit;
  Section section;
  bool of_histogram;  // so an approximation where the histogram is the original's
  std::optional<double> (*of)(const RunView&);
};

std::span<const Figure> figures();

}  // namespace nvmemu::pmbench
