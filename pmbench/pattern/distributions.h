// SPDX-License-Identifier: Apache-2.0
// The distributions of random patterns: from a generator to pages of the set. Each is exact for the set: what
// would fall outside is not clamped onto a page that it does not belong to. draw() fills `pages`, of which
// there are at most kMostDraws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "pattern/permutation.h"
#include "pattern/rng.h"

namespace nvmemu::pmbench {

inline constexpr std::size_t kMostDraws = Permutation::kMost;
using Pages = std::span<std::uint64_t>;

class Uniform {
 public:
  explicit Uniform(std::uint64_t pages) noexcept : pages_(pages) {}
  void draw(Rng& rng, Pages pages) const noexcept;

 private:
  std::uint64_t pages_;
};

// Around the middle of the set; cut off at its ends.
class Normal {
 public:
  Normal(std::uint64_t pages, double sigma_pages) noexcept;
  void draw(Rng& rng, Pages pages) const noexcept;

 private:
  double pages_, sigma_, last_;
  double lowest_, width_;  // of the uniform numbers whose quantiles lie in the set
};

// The sum of twelve uniform numbers (Irwin-Hall), which is near a normal one but ends at 6 sigma. Redrawn
// until it is in the set.
class IrwinHall {
 public:
  IrwinHall(std::uint64_t pages, double sigma_pages) noexcept
      : pages_(static_cast<double>(pages)), sigma_(sigma_pages) {}
  void draw(Rng& rng, Pages pages) const noexcept;

 private:
  double pages_, sigma_;
};

// P(page >= k) = (k + 1)^-alpha, cut off at the end of the set: page 0 is the hottest, its neighbours next.
class Pareto {
 public:
  Pareto(std::uint64_t pages, double alpha) noexcept;
  void draw(Rng& rng, Pages pages) const noexcept;

 private:
  double exponent_, least_;
  std::uint64_t pages_;
};

// The k-th hottest page, from 1, has a probability in proportion to k^-alpha. Rejection-inversion: Hoermann
// and Derflinger, Rejection-inversion to generate variates from monotone discrete distributions, ACM TOMACS 6
// (1996), with the notation of Apache Commons' implementation. Which page that is, is spread over the set at
// random, the same for all threads.
class Zipf {
 public:
  Zipf(std::uint64_t pages, double alpha, std::uint64_t seed) noexcept;
  void draw(Rng& rng, Pages pages) const noexcept;

 private:
  double weight(double x) const noexcept;
  double integral(double x) const noexcept;  // of the weight, from 1 to x
  double inverse_integral(double u) const noexcept;
  double uniform(Rng& rng) const noexcept { return end_ + rng.unit() * (begin_ - end_); }
  double rank_of(double x) const noexcept;
  bool accepts(double rank, double x, double u) const noexcept;

  double alpha_, pages_;
  double above_, inverse_above_;  // 1 - alpha, kept off 0, and 1 over that
  double begin_, end_;            // integrals that are drawn from
  double surely_;                 // so near above x, a rank needs no second look
  Permutation order_;
};

// A share of the accesses goes to a share of the pages, which are spread over the set at random. Where
// `draws_per_move` > 0, the hot pages are others after so many draws: the next of a random order.
class Hotspot {
 public:
  Hotspot(std::uint64_t pages, double access_percent, double page_percent, std::uint64_t draws_per_move,
          std::uint64_t seed) noexcept;
  void draw(Rng& rng, Pages pages) noexcept;

 private:
  std::uint64_t pages_, hot_pages_, hot_below_;
  std::uint64_t first_ = 0;  // of the hot pages, in the random order
  std::uint64_t draws_per_move_, draws_left_;
  Permutation order_;
};

}  // namespace nvmemu::pmbench
