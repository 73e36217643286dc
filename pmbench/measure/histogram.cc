// SPDX-License-Identifier: Apache-2.0
#include "measure/histogram.h"

#include <algorithm>
#include <cmath>

namespace nvmemu::pmbench {
namespace {

double begin_of(std::size_t i) { return static_cast<double>(Buckets::begin_ns(i)); }

double end_of(std::size_t i, const LatencyCounts& all) {
  if (i + 1 < Buckets::kCount) return begin_of(i + 1);
  return std::max(begin_of(i) + 1, static_cast<double>(all.max_ns) + 1);
}

// A bucket of one nanosecond holds just that; the middle of a wider one is halfway between its first and
// last.
double middle_of(std::size_t i, const LatencyCounts& all) { return (begin_of(i) + end_of(i, all) - 1) / 2; }

// Which share of bucket `i` lies above `ns`.
double share_above(std::size_t i, double ns, const LatencyCounts& all) {
  const double begin = begin_of(i);
  const double end = end_of(i, all);
  return std::clamp((end - 1 - ns) / (end - begin), 0.0, 1.0);
}

}  // namespace

void LatencyCounts::merge(const LatencyCounts& other) noexcept {
  if (other.count == 0) return;
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
  min_ns = count == 0 ? other.min_ns : std::min(min_ns, other.min_ns);
  max_ns = std::max(max_ns, other.max_ns);
  count += other.count;
  sum_ns += other.sum_ns;
}

double LatencyCounts::mean_ns() const noexcept {
  return count == 0 ? 0 : static_cast<double>(sum_ns) / static_cast<double>(count);
}

double LatencyCounts::percentile_ns(double q) const noexcept {
  if (count == 0) return 0;
  const auto rank =
      std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(q * static_cast<double>(count))));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    seen += counts[i];
    if (seen >= rank)
      return std::clamp(middle_of(i, *this), static_cast<double>(min_ns), static_cast<double>(max_ns));
  }
  return static_cast<double>(max_ns);
}

double LatencyCounts::mode_ns(double from_ns) const noexcept {
  double best = 0;
  double mode = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (begin_of(i) < from_ns || counts[i] == 0) continue;
    const double density = static_cast<double>(counts[i]) / (end_of(i, *this) - begin_of(i));
    if (density <= best) continue;
    best = density;
    mode = middle_of(i, *this);
  }
  return mode;
}

double LatencyCounts::count_above(double ns) const noexcept {
  double sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] != 0) sum += static_cast<double>(counts[i]) * share_above(i, ns, *this);
  }
  return sum;
}

double LatencyCounts::sum_above_ns(double ns) const noexcept {
  double sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    const double share = share_above(i, ns, *this);
    const double last = end_of(i, *this) - 1;
    const double first = share < 1 ? std::max(begin_of(i), ns) : begin_of(i);
    sum += static_cast<double>(counts[i]) * share * (first + last) / 2;
  }
  return sum;
}

std::uint64_t LatencyCounts::count_between(std::uint64_t begin_ns, std::uint64_t end_ns) const noexcept {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::uint64_t begin = Buckets::begin_ns(i);
    if (begin >= begin_ns && begin < end_ns) sum += counts[i];
  }
  return sum;
}

}  // namespace nvmemu::pmbench
