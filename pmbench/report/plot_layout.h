// SPDX-License-Identifier: Apache-2.0
// Axes and legends that fit what they name.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace nvmemu::pmbench {

inline constexpr unsigned kPlotWidthPx = 960;
inline constexpr unsigned kPlotHeightPx = 600;  // without long legends
inline constexpr unsigned kLinePx = 18;         // of text

// Parted at blanks, so that a line fits into the width of a plot.
std::vector<std::string> lines_of_label(std::string_view label);

// A title at the top of a plot of that height, and all else below it.
std::string title_above(std::string_view title, unsigned height_px);
inline constexpr unsigned kTitlePx = 28;

// The legend of lines that are named so: between the title and what is drawn, never on it, from the left.
class Legend {
 public:
  static constexpr const char* kSettings = "set key tmargin left horizontal Left reverse\n";

  // What to plot for the line of colour `line`, `drawn` being what and how, with as many more as its name
  // needs lines.
  void add(std::string_view drawn, std::size_t line, std::string_view name);

  std::string plot() const { return "plot " + entries_ + "\n"; }
  unsigned rows() const noexcept { return rows_; }
  // Of the plot, so that what is drawn keeps its place.
  unsigned height_px() const noexcept { return kPlotHeightPx + (rows_ > 1 ? (rows_ - 1) * kLinePx : 0); }

 private:
  std::string entries_;
  unsigned rows_ = 0;
};

// "950", "2.5k", "10M".
std::string count_text(double count);

// From 0 to a little above `most`, in round steps; from below `least` (but 0) to above `most`, in powers
// of 10.
std::string count_axis(double most);
std::string logarithmic_count_axis(double least, double most);

}  // namespace nvmemu::pmbench
