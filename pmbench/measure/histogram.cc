// SPDX-License-Identifier: Apache-2.0
#include "measure/histogram.h"

#include <algorithm>
#include <cmath>

namespace nvmemu::pmbench {
namespace {

double begin_of(std::size_t i) { return static_cast<double>(Buckets::begin_ns(i)); }

// The last bucket has no bound: it ends where its values do.
double end_of(std::size_t i, const LatencyCounts& all) {
  if (i + 1 < Buckets::kCount) return begin_of(i + 1);
  return std::max(begin_of(i), static_cast<double>(all.max_ns)) + 1;
}

// A bucket one ns wide holds that one value; a wider one is centred on its values.
double middle_of(std::size_t i, const LatencyCounts& all) { return (begin_of(i) + end_of(i, all) - 1) / 2; }

// The share of bucket i at or above `ns`, as if its values were spread evenly.
double share_from(std::size_t i, double ns, const LatencyCounts& all) {
  const double end = end_of(i, all);
  return std::clamp((end - ns) / (end - begin_of(i)), 0.0, 1.0);
}

}  // namespace

void LatencyCounts::add(std::uint64_t ns) noexcept {
  ++counts[Buckets::index(ns)];
  min_ns = count == 0 ? ns : std::min(min_ns, ns);
  max_ns = std::max(max_ns, ns);
  ++count;
  sum_ns += ns;
}

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
  const double wanted = std::ceil(q * static_cast<double>(count));
  const auto rank = std::clamp<std::uint64_t>(wanted > 0 ? static_cast<std::uint64_t>(wanted) : 0, 1, count);
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    below += counts[i];
    if (below >= rank)
      return std::clamp(middle_of(i, *this), static_cast<double>(min_ns), static_cast<double>(max_ns));
  }
  return static_cast<double>(max_ns);
}

double LatencyCounts::mode_ns(double from_ns) const noexcept {
  double densest = 0;
  double mode = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (begin_of(i) < from_ns) continue;
    const double density = static_cast<double>(counts[i]) / (end_of(i, *this) - begin_of(i));
    if (density > densest) {
      densest = density;
      mode = middle_of(i, *this);
    }
  }
  return mode;
}

// Values are whole ns, so that more than `ns` means from the next one on.
double LatencyCounts::count_above(double ns) const noexcept {
  const double from_ns = std::floor(ns) + 1;
  double above = 0;
  for (std::size_t i = 0; i < counts.size(); ++i)
    above += static_cast<double>(counts[i]) * share_from(i, from_ns, *this);
  return above;
}

double LatencyCounts::sum_above_ns(double ns) const noexcept {
  const double from_ns = std::floor(ns) + 1;
  double sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double end = end_of(i, *this);
    const double begin = std::clamp(from_ns, begin_of(i), end);
    sum += static_cast<double>(counts[i]) * share_from(i, from_ns, *this) * (begin + end - 1) / 2;
  }
  return sum;
}

std::uint64_t LatencyCounts::count_between(std::uint64_t begin_ns, std::uint64_t end_ns) const noexcept {
  std::uint64_t between = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::uint64_t begin = Buckets::begin_ns(i);
    if (begin >= begin_ns && begin < end_ns) between += counts[i];
  }
  return between;
}

double best_cut_ns(const LatencyCounts& lower, const LatencyCounts& upper) noexcept {
  std::uint64_t wrong = lower.count;  // with the cut below all
  std::uint64_t least = wrong;
  std::size_t first = 0;  // the cuts that are equally good: below bucket `first` to below bucket `last`
  std::size_t last = 0;
  for (std::size_t i = 0; i < Buckets::kCount; ++i) {
    wrong = wrong + upper.counts[i] - lower.counts[i];
    if (wrong < least) {
      least = wrong;
      first = i + 1;
    }
    if (wrong == least && (first == i + 1 || last == i)) last = i + 1;
  }
  const auto bound = [&](std::size_t i) {
    return std::max(1.0, i < Buckets::kCount ? begin_of(i) : end_of(i - 1, upper));
  };
  return std::sqrt(bound(first) * bound(last));
}

LatencyCounts Histogram::counts() const noexcept {
  LatencyCounts all;
  for (std::size_t i = 0; i < Buckets::kCount; ++i) {
    const std::uint32_t low = page_->counters[i].load(std::memory_order_relaxed);
    all.counts[i] = (std::uint64_t{wraps_[i]} << 32) + low;
    all.count += all.counts[i];
  }
  all.sum_ns = sum_ns_;
  const auto counted = [](std::uint64_t count) { return count > 0; };
  const auto exact_end = all.counts.begin() + Buckets::kExact;
  const auto least = std::find_if(all.counts.begin(), exact_end, counted);
  if (all.count > 0)
    all.min_ns = least == exact_end ? wide_min_ns_ : static_cast<std::uint64_t>(least - all.counts.begin());
  all.max_ns = wide_max_ns_;
  for (std::size_t i = Buckets::kExact; all.max_ns == 0 && i-- > 0;) all.max_ns = all.counts[i] > 0 ? i : 0;
  return all;
}

}  // namespace nvmemu::pmbench
