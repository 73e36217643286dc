// SPDX-License-Identifier: Apache-2.0
#include "report/plot_scripts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "report/gnuplot.h"

namespace nvmemu::pmbench {
namespace {

// Told apart by people who do not see all colours too (Okabe and Ito's), but for the yellow, which is faint
// on white.
constexpr const char* kColours =
    "set linetype 1 lc rgb '#0072b2' lw 2\n"
    "set linetype 2 lc rgb '#d55e00' lw 2\n"
    "set linetype 3 lc rgb '#009e73' lw 2\n"
    "set linetype 4 lc rgb '#cc79a7' lw 2\n"
    "set linetype 5 lc rgb '#56b4e9' lw 2\n"
    "set linetype 6 lc rgb '#e69f00' lw 2\n"
    "set linetype 7 lc rgb '#000000' lw 2\n"
    "set linetype cycle 7\n"
    "set border 3 lc rgb '#404040'\n"
    "set tics nomirror out\n"
    "set grid lc rgb '#d8d8d8' lt 1 lw 1\n";

constexpr const char* kLatencyAxis =
    "set logscale x 10\n"
    "set xtics ('1 ns' 1, '10 ns' 10, '100 ns' 100, '1 us' 1e3, '10 us' 1e4, '100 us' 1e5, '1 ms' 1e6, "
    "'10 ms' 1e7, '100 ms' 1e8, '1 s' 1e9, '10 s' 1e10, '100 s' 1e11)\n"
    "set mxtics 10\n"
    "set xlabel 'latency'\n";

// What one line shows: its name, and how many accesses of an average run fell into each bucket.
struct Curve {
  std::string name;
  std::vector<double> counts;
  std::uint64_t max_ns = 0;
};

Curve curve_of(std::string name, const Group& group, const LatencyCounts& counts) {
  Curve curve{std::move(name), {}, counts.max_ns};
  for (const std::uint64_t count : counts.counts) curve.counts.push_back(group.average(count));
  return curve;
}

std::vector<Curve> curves_of(const Comparison& comparison) {
  std::vector<Curve> curves;
  for (const Group& group : comparison.groups) {
    if (comparison.groups.size() == 1) {
      if (group.reads.count > 0) curves.push_back(curve_of("reads", group, group.reads));
      if (group.writes.count > 0) curves.push_back(curve_of("writes", group, group.writes));
    } else {
      LatencyCounts all = group.reads;
      all.merge(group.writes);
      if (all.count > 0) curves.push_back(curve_of(group.label, group, all));
    }
  }
  return curves;
}

// The bounds of bucket `i` on a logarithmic axis, which has no 0.
double begin_of(std::size_t i) { return std::max(0.5, static_cast<double>(Buckets::begin_ns(i))); }
double end_of(std::size_t i, const Curve& curve) {
  if (i + 1 < Buckets::kCount) return begin_of(i + 1);
  return std::max(begin_of(i) * 1.01, static_cast<double>(curve.max_ns));
}

double density(const Curve& curve, std::size_t i) {
  constexpr double kBucketsPerOctave = 1U << Buckets::kSubBits;
  return curve.counts[i] / (kBucketsPerOctave * std::log2(end_of(i, curve) / begin_of(i)));
}

// From the first bucket that is not empty to the last.
std::pair<std::size_t, std::size_t> extent(const std::vector<Curve>& curves) {
  std::size_t first = Buckets::kCount;
  std::size_t last = 0;
  for (const Curve& curve : curves) {
    for (std::size_t i = 0; i < curve.counts.size(); ++i) {
      if (curve.counts[i] == 0) continue;
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
  double least = std::numeric_limits<double>::max();
  for (const Curve& curve : curves) {
    for (std::size_t i = first; i <= last; ++i) {
      if (curve.counts[i] > 0) least = std::min(least, density(curve, i));
    }
  }
  const double floor = logarithmic_y ? least / 2 : 0;  // what an empty bucket has: a logarithm has no 0

  std::string text = std::string(kColours) + kLatencyAxis + latency_range(curves);
  text += "set title 'Access latency'\nset ylabel 'accesses in 1/32 octave of latency'\nset key top right\n";
  text += logarithmic_y
              ? fmt::format("set logscale y 10\nset format y '10^%T'\nset yrange [{:.6g}:*]\n", floor)
              : "set yrange [0:*]\nset format y '%.3s%c'\n";
  text += data_blocks(curves, [&](const Curve& curve) {
    std::string lines;
    for (std::size_t i = first; i <= last; ++i) {
      const double y = std::max(density(curve, i), floor);
      lines += fmt::format("{0:.7g} {2:.7g}\n{1:.7g} {2:.7g}\n", begin_of(i), end_of(i, curve), y);
    }
    return lines;
  });
  return text + plot_command(curves);
}

std::string cdf_script(const Comparison& comparison) {
  const std::vector<Curve> curves = curves_of(comparison);
  if (curves.empty()) return empty_script("Latency, cumulated");
  const auto [first, last] = extent(curves);
  std::string text = std::string(kColours) + kLatencyAxis + latency_range(curves);
  text +=
      "set title 'Latency, cumulated'\nset ylabel 'accesses that took no longer'\nset format y '%g %%'\n"
      "set yrange [0:100]\nset key bottom right\n";
  text += data_blocks(curves, [&](const Curve& curve) {
    double all = 0;
    for (const double count : curve.counts) all += count;
    double sum = 0;
    std::string lines = fmt::format("{:.7g} 0\n", begin_of(first));
    for (std::size_t i = first; i <= last; ++i) {
      sum += curve.counts[i];
      lines += fmt::format("{:.7g} {:.7g}\n", end_of(i, curve), 100 * sum / all);
    }
    return lines;
  });
  return text + plot_command(curves);
}

}  // namespace nvmemu::pmbench
