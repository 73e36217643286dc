// SPDX-License-Identifier: Apache-2.0
// The distributions of random patterns: from a generator to a page of the set. Each is exact for the set:
// what would fall outside is not clamped onto a page that it does not belong to.
#pragma once

#include <cmath>
#include <cstdint>

#include "pattern/fast_math.h"
#include "pattern/permutation.h"
#include "pattern/rng.h"

namespace nvmemu::pmbench {

class Uniform {
 public:
  explicit Uniform(std::uint64_t pages) noexcept : pages_(pages) {}
  std::uint64_t operator()(Rng& rng) const noexcept { return rng.below(pages_); }

 private:
  std::uint64_t pages_;
};

// Around the middle of the set; redrawn until it is in the set.
class Normal {
 public:
  Normal(std::uint64_t pages, double sigma_pages) noexcept;
  std::uint64_t operator()(Rng& rng) const noexcept;

 private:
  double pages_, sigma_;
  double lowest_, width_;  // of the uniform numbers whose quantiles lie in the set
};

// The sum of twelve uniform numbers (Irwin-Hall), which is near a normal one but ends at 6 sigma.
class IrwinHall {
 public:
  IrwinHall(std::uint64_t pages, double sigma_pages) noexcept
      : pages_(static_cast<double>(pages)), sigma_(sigma_pages) {}
  std::uint64_t operator()(Rng& rng) const noexcept {
    for (;;) {
      double sum = -6;
      for (int i = 0; i < 6; ++i) {
        const std::uint64_t two = rng.next();
        sum += (static_cast<double>(two >> 32) + static_cast<double>(two & 0xffffffff) + 1) * 0x1p-32;
      }
      const double page = pages_ / 2 + sigma_ * sum;
      if (page >= 0 && page < pages_) return static_cast<std::uint64_t>(page);
    }
  }

 private:
  double pages_, sigma_;
};

// P(page >= k) = (k + 1)^-alpha, cut off at the end of the set: page 0 is the hottest, its neighbours next.
class Pareto {
 public:
  Pareto(std::uint64_t pages, double alpha) noexcept
      : exponent_(-1 / alpha), least_(std::pow(static_cast<double>(pages) + 1, -alpha)), pages_(pages) {}
  std::uint64_t operator()(Rng& rng) const noexcept {
    const double u = least_ + rng.unit() * (1 - least_);
    const auto page = static_cast<std::uint64_t>(fast_exp(fast_log(u) * exponent_)) - 1;
    return page < pages_ ? page : pages_ - 1;  // by rounding only
  }

 private:
  double exponent_, least_;
  std::uint64_t pages_;
};

// The k-th hottest page, from 0, has a probability in proportion to (k + 1)^-alpha. Rejection-inversion:
// Hoermann and Derflinger, Rejection-inversion to generate variates from monotone discrete distributions,
// ACM TOMACS 6 (1996), with the notation of Apache Commons' implementation.
class ZipfRank {
 public:
  ZipfRank(std::uint64_t pages, double alpha) noexcept;
  std::uint64_t operator()(Rng& rng) const noexcept {
    for (;;) {
      const double u = integral_end_ + rng.unit() * (integral_begin_ - integral_end_);
      const double x = inverse_integral(u);
      double k = static_cast<double>(static_cast<std::uint64_t>(x + 0.5));
      k = k < 1 ? 1 : (k > pages_ ? pages_ : k);
      if (k - x <= surely_ || u >= integral(k + 0.5) - weight(k)) return static_cast<std::uint64_t>(k) - 1;
    }
  }

 private:
  double weight(double x) const noexcept { return fast_exp(-alpha_ * fast_log(x)); }
  // Of the weight, from 1 to x.
  double integral(double x) const noexcept {
    const double log_x = fast_log(x);
    return expm1_over((1 - alpha_) * log_x) * log_x;
  }
  double inverse_integral(double u) const noexcept {
    const double t = u * (1 - alpha_);
    return fast_exp(log1p_over(t < -0.9999999999999999 ? -0.9999999999999999 : t) * u);
  }

  double alpha_, pages_;
  double integral_begin_, integral_end_;
  double surely_;  // so near above x, k needs no second look
};

// Its pages are spread over the set at random, the same for all threads.
class Zipf {
 public:
  Zipf(std::uint64_t pages, double alpha, std::uint64_t seed) noexcept
      : rank_(pages, alpha), order_(pages, seed) {}
  std::uint64_t operator()(Rng& rng) const noexcept { return order_(rank_(rng)); }

 private:
  ZipfRank rank_;
  Permutation order_;
};

// A share of the accesses goes to a share of the pages, which are spread over the set at random. Where
// `draws_per_move` > 0, the hot pages are others after so many draws: the next of a random order.
class Hotspot {
 public:
  Hotspot(std::uint64_t pages, double access_percent, double page_percent, std::uint64_t draws_per_move,
          std::uint64_t seed) noexcept;
  std::uint64_t operator()(Rng& rng) noexcept {
    if (draws_per_move_ > 0 && draws_left_-- == 0) {
      draws_left_ = draws_per_move_ - 1;
      first_ += hot_pages_;
      if (first_ >= pages_) first_ -= pages_;
    }
    const bool hot = rng.next() < hot_below_;
    std::uint64_t place = hot ? rng.below(hot_pages_) : hot_pages_ + rng.below(pages_ - hot_pages_);
    place += first_;
    return order_(place < pages_ ? place : place - pages_);
  }

 private:
  std::uint64_t pages_, hot_pages_, hot_below_;
  std::uint64_t first_ = 0;  // of the hot pages, in the random order
  std::uint64_t draws_per_move_, draws_left_;
  Permutation order_;
};

}  // namespace nvmemu::pmbench
