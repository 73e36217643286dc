// SPDX-License-Identifier: Apache-2.0
#include "report/plot_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/gnuplot.h"

namespace nvmemu::pmbench {
namespace {

std::string tics(const std::vector<double>& counts) {
  std::string text = "set ytics (";
  for (const double count : counts)
    text += fmt::format("{}'{}' {:.7g}", count == counts.front() ? "" : ", ", count_text(count), count);
  return text + ")\n";
}

}  // namespace

std::vector<std::string> lines_of_label(std::string_view label) {
  constexpr std::size_t kWidest = 110;  // letters
  std::vector<std::string> lines;
  while (label.size() > kWidest) {
    const std::size_t blank = label.rfind(' ', kWidest);
    const std::size_t end = blank == std::string_view::npos || blank == 0 ? kWidest : blank;
    lines.emplace_back(label.substr(0, end));
    label.remove_prefix(end + (label[end] == ' ' ? 1 : 0));
  }
  lines.emplace_back(label);
  return lines;
}

std::string title_above(std::string_view title, unsigned height_px) {
  return fmt::format("set label {} at screen 0.5, screen {:.4f} center\nset size 1,{:.4f}\n",
                     gnuplot_string(title), 1 - 18.0 / height_px,
                     1 - static_cast<double>(kTitlePx) / height_px);
}

void Legend::add(std::string_view drawn, std::size_t line, std::string_view name) {
  const std::vector<std::string> lines = lines_of_label(name);
  entries_ += fmt::format("{}{} with lines lt {} title {}", entries_.empty() ? "" : ", \\\n  ", drawn, line,
                          gnuplot_string(lines.front()));
  for (std::size_t i = 1; i < lines.size(); ++i) {
    entries_ +=
        fmt::format(", \\\n  NaN with lines lc rgb 'white' title {}", gnuplot_string("    " + lines[i]));
  }
  rows_ += static_cast<unsigned>(lines.size());
}

std::string count_text(double count) {
  if (count >= 1e9) return fmt::format("{:g}G", count / 1e9);
  if (count >= 1e6) return fmt::format("{:g}M", count / 1e6);
  if (count >= 1e3) return fmt::format("{:g}k", count / 1e3);
  return fmt::format("{:g}", count);
}

std::string count_axis(double most) {
  constexpr double kHeadroom = 1.03;  // a line at the top's edge is half cut off
  constexpr double kMostSteps = 6;
  most = most > 0 ? most * kHeadroom : 1;
  double step = std::pow(10, std::floor(std::log10(most / kMostSteps)));
  for (const double factor : {2.0, 2.5, 2.0}) {  // 1, 2, 5, 10
    if (step * kMostSteps >= most) break;
    step *= factor;
  }
  std::vector<double> counts;
  for (int i = 0; i <= static_cast<int>(std::ceil(most / step)); ++i) counts.push_back(i * step);
  return tics(counts) + fmt::format("set yrange [0:{:.7g}]\n", counts.back());
}

std::string logarithmic_count_axis(double least, double most) {
  const double low = std::floor(std::log10(least));
  const double high = std::max(std::ceil(std::log10(most)), low + 1);
  std::vector<double> counts;
  for (double power = low; power <= high; ++power) counts.push_back(std::pow(10, power));
  // A little more than that, or the names at the ends may be lost to rounding.
  return "set logscale y 10\n" + tics(counts) +
         fmt::format("set yrange [{:g}:{:g}]\n", 0.99 * counts.front(), 1.01 * counts.back());
}

}  // namespace nvmemu::pmbench
