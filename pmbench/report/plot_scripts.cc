// SPDX-License-Identifier: Apache-2.0
#include "report/plot_scripts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "report/gnuplot.h"
#include "report/plot_style.h"

namespace nvmemu::pmbench {
namespace {

std::string style() {
  return fmt::format(
      "{}{}set grid xtics ytics lc rgb '#d8d8d8' lt 1 lw 1\nset logscale x 10\nset xtics{}set xlabel "
      "'latency'\n",
      kLines, kAxes, kLatencyTics);
}

// What one line shows.
struct Curve {
  std::string name;
  LatencyCounts counts;  // of all runs together
  double runs = 1;
};

std::vector<Curve> curves_of(const Comparison& comparison) {
  std::vector<Curve> curves;
  for (const Group& group : comparison.groups) {
    const auto runs = static_cast<double>(group.runs.size());
    if (comparison.groups.size() == 1) {
      if (group.reads.count > 0) curves.push_back({"reads", group.reads, runs});
      if (group.writes.count > 0) curves.push_back({"writes", group.writes, runs});
    } else {
      LatencyCounts all = group.reads;
      all.merge(group.writes);
      if (all.count > 0) curves.push_back({group.label, all, runs});
    }
  }
  return curves;
}

// The bounds of bucket `i` on a logarithmic axis, which has no 0.
double begin_of(std::size_t i) { return std::max(0.5, static_cast<double>(Buckets::begin_ns(i))); }
double end_of(std::size_t i, const Curve& curve) {
  if (i + 1 < Buckets::kCount) return begin_of(i + 1);
  return std::max(begin_of(i) * 1.01, static_cast<double>(curve.counts.max_ns));
}

struct Step {
  double begin_ns, end_ns;
  double density;
};

// Single buckets where enough fell into them; where accesses are few, so many together that the line does not
// jump up and down between one and none.
std::vector<Step> steps_of(const Curve& curve, std::size_t first, std::size_t last) {
  constexpr double kBucketsPerOctave = 1U << Buckets::kSubBits;
  constexpr std::uint64_t kEnough = 16;
  constexpr double kWidest = 1.19;  // a quarter of an octave
  const auto& counts = curve.counts.counts;
  std::vector<Step> steps;
  for (std::size_t i = first; i <= last;) {
    const double begin_ns = begin_of(i);
    std::uint64_t count = counts[i];
    std::size_t end = i + 1;
    for (; count != 0 && count < kEnough && end <= last && end_of(end, curve) < begin_ns * kWidest; ++end) {
      count += counts[end];
    }
    const double end_ns = end_of(end - 1, curve);
    const double width = kBucketsPerOctave * std::log2(end_ns / begin_ns);
    steps.push_back({begin_ns, end_ns, static_cast<double>(count) / curve.runs / width});
    i = end;
  }
  return steps;
}

// From the first bucket that is not empty to the last.
std::pair<std::size_t, std::size_t> extent(const std::vector<Curve>& curves) {
  std::size_t first = Buckets::kCount;
  std::size_t last = 0;
  for (const Curve& curve : curves) {
    for (std::size_t i = 0; i < Buckets::kCount; ++i) {
      if (curve.counts.counts[i] == 0) continue;
      first = std::min(first, i);
      last = std::max(last, i);
    }
  }
  return {first, last};
}

std::string latency_range(const std::vector<Curve>& curves) {
  const auto [first, last] = extent(curves);
  return fmt::format("set xrange [{:.6g}:{:.6g}]\n", begin_of(first) / 1.2,
                     end_of(last, curves.front()) * 1.2);
}

// `$data0`, `$data1`, ...: what `lines` says of each curve.
template <typename Lines>
std::string data_blocks(const std::vector<Curve>& curves, Lines lines) {
  std::string text;
  for (std::size_t c = 0; c < curves.size(); ++c)
    text += fmt::format("$data{} << EOD\n{}EOD\n", c, lines(curves[c]));
  return text;
}

std::string plot_command(const std::vector<Curve>& curves) {
  std::string text = "plot ";
  for (std::size_t c = 0; c < curves.size(); ++c) {
    text += fmt::format("{}$data{} using 1:2 with lines lt {} title {}", c == 0 ? "" : ", \\\n  ", c, c + 1,
                        gnuplot_string(curves[c].name));
  }
  return text + "\n";
}

std::string empty_script(const char* title) {
  return fmt::format(
      "set title '{}'\nunset border\nunset tics\nset label 'nothing was recorded' at graph 0.5,0.5 center\n"
      "plot [0:1][0:1] NaN notitle\n",
      title);
}

}  // namespace

std::string histogram_script(const Comparison& comparison, bool logarithmic_y) {
  const std::vector<Curve> curves = curves_of(comparison);
  if (curves.empty()) return empty_script("Access latency");
  const auto [first, last] = extent(curves);
  std::string text = style() + latency_range(curves);
  text += "set title 'Access latency'\nset ylabel 'accesses in 1/32 octave of latency'\nset key top right\n";
  text += logarithmic_y ? "set logscale y 10\nset format y '10^%T'\n" : kCountsFormat;
  text += data_blocks(curves, [&](const Curve& curve) {
    std::string lines;
    for (const Step& step : steps_of(curve, first, last)) {
      // A logarithm has no 0: an empty step parts the line.
      lines += logarithmic_y && step.density == 0 ? "\n"
                                                  : fmt::format("{0:.7g} {2:.7g}\n{1:.7g} {2:.7g}\n",
                                                                step.begin_ns, step.end_ns, step.density);
    }
    return lines;
  });
  return text + plot_command(curves);
}

std::string cdf_script(const Comparison& comparison) {
  const std::vector<Curve> curves = curves_of(comparison);
  if (curves.empty()) return empty_script("Latency, cumulated");
  const auto [first, last] = extent(curves);
  std::string text = style() + latency_range(curves);
  text +=
      "set title 'Latency, cumulated'\nset ylabel 'accesses that took no longer'\nset format y '%g %%'\n"
      "set yrange [0:100]\nset key bottom right\n";
  text += data_blocks(curves, [&](const Curve& curve) {
    const auto all = static_cast<double>(curve.counts.count);
    std::uint64_t sum = 0;
    std::string lines = fmt::format("{:.7g} 0\n", begin_of(first));
    for (std::size_t i = first; i <= last; ++i) {
      sum += curve.counts.counts[i];
      lines += fmt::format("{:.7g} {:.7g}\n", end_of(i, curve), 100 * static_cast<double>(sum) / all);
    }
    return lines;
  });
  return text + plot_command(curves);
}

}  // namespace nvmemu::pmbench
