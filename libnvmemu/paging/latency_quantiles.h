// SPDX-License-Identifier: Apache-2.0
// How long a device takes, as its makers and reviewers tell: at quantiles. Pure; async-signal-safe.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <initializer_list>

namespace nvmemu {

class LatencyQuantiles {
 public:
  struct Point {
    double share = 0;  // of requests, 0 to 1, that take
    double ns = 0;     // no longer than this
    constexpr bool operator==(const Point&) const = default;
  };
  static constexpr std::size_t kMost = 6;

  constexpr LatencyQuantiles() = default;
  // The same for all.
  constexpr explicit LatencyQuantiles(double ns) : points_{Point{0, ns}}, count_(1) {}
  // By rising shares, no less ns than the one before, > 0; at most kMost. Requests below the first share take
  // what that takes, those above the last what that takes.
  constexpr LatencyQuantiles(std::initializer_list<Point> points) {
    for (const Point& point : points) points_[count_++] = point;
  }

  constexpr bool empty() const noexcept { return count_ == 0; }
  constexpr std::size_t size() const noexcept { return count_; }
  constexpr const Point& operator[](std::size_t i) const noexcept { return points_[i]; }  // i < size()
  constexpr bool operator==(const LatencyQuantiles&) const = default;
  // Behind the others; false where it does not rise, or there is no room.
  constexpr bool append(const Point& point) noexcept {
    const bool rises =
        count_ == 0 || (point.share > points_[count_ - 1].share && point.ns >= points_[count_ - 1].ns);
    if (!rises || count_ == kMost) return false;
    points_[count_++] = point;
    return true;
  }

  // Of the request that is slower than `share` of all: between points, log(ns) goes in proportion to the
  // share; 0 where there are none.
  double at(double share) const noexcept {
    if (count_ == 0) return 0;
    if (share <= points_[0].share) return points_[0].ns;
    for (std::size_t i = 1; i < count_; ++i) {
      const Point& below = points_[i - 1];
      const Point& above = points_[i];
      if (share > above.share) continue;
      return below.ns * std::pow(above.ns / below.ns, (share - below.share) / (above.share - below.share));
    }
    return points_[count_ - 1].ns;
  }

  // Each shorter by so much, which must be less than the shortest.
  constexpr LatencyQuantiles less(double ns) const noexcept {
    LatencyQuantiles shorter = *this;
    for (std::size_t i = 0; i < count_; ++i) shorter.points_[i].ns -= ns;
    return shorter;
  }

 private:
  std::array<Point, kMost> points_{};
  std::size_t count_ = 0;
};

}  // namespace nvmemu
