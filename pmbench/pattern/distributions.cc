// SPDX-License-Identifier: Apache-2.0
#include "pattern/distributions.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "pattern/fast_math.h"
#include "pattern/wide.h"

namespace nvmemu::pmbench {
namespace {

constexpr double kLeast = 1e-300;  // keeps logarithms finite

double normal_cdf(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }

// The quantile of the normal distribution, relative error 1.2e-9: P. J. Acklam, An algorithm for computing
// the inverse normal cumulative distribution function (2003). In its middle by one formula, at its ends by
// another.
constexpr double kNormalEnds = 0.02425;

[[gnu::always_inline]] inline double normal_quantile_in_middle(double p) noexcept {
  const double q = p - 0.5;
  const double r = q * q;
  return (((((-3.969683028665376e+01 * r + 2.209460984245205e+02) * r - 2.759285104469687e+02) * r +
            1.383577518672690e+02) *
               r -
           3.066479806614716e+01) *
              r +
          2.506628277459239e+00) *
         q /
         (((((-5.447609879822406e+01 * r + 1.615858368580409e+02) * r - 1.556989798598866e+02) * r +
            6.680131188771972e+01) *
               r -
           1.328068155288572e+01) *
              r +
          1);
}

double normal_quantile_at_ends(double p) noexcept {
  const double q = std::sqrt(-2 * fast_log(std::min(p, 1 - p)));
  const double below =
      (((((-7.784894002430293e-03 * q - 3.223964580411365e-01) * q - 2.400758277161838e+00) * q -
         2.549732539343734e+00) *
            q +
        4.374664141464968e+00) *
           q +
       2.938163982698783e+00) /
      ((((7.784695709041462e-03 * q + 3.224671290700398e-01) * q + 2.445134137142996e+00) * q +
        3.754408661907416e+00) *
           q +
       1);
  return p < 0.5 ? below : -below;
}

bool is_at_ends(double p) noexcept { return p < kNormalEnds || p > 1 - kNormalEnds; }

PMBENCH_WIDE void normal_quantile_of_each(const double* p, double* quantile) noexcept {
  for (std::size_t i = 0; i < kMostDraws; ++i) quantile[i] = normal_quantile_in_middle(p[i]);
}

// x = e^(a ln(b + c x)) for all of them, four at a time. `count` may be rounded up to a multiple of four.
PMBENCH_WIDE void power_of_each(double* x, std::size_t count, double a, double b, double c) noexcept {
  for (std::size_t i = 0; i < count; i += 4) {
    FourReals base;
    std::memcpy(&base, x + i, sizeof base);
    base = b + c * base;
    base = base > kLeast ? base : FourReals{kLeast, kLeast, kLeast, kLeast};
    base = fast_exp<FourReals, FourBits>(fast_log<FourReals, FourBits>(base) * a);
    std::memcpy(x + i, &base, sizeof base);
  }
}

}  // namespace

void Uniform::draw(Rng& rng, Pages pages) const noexcept {
  for (std::uint64_t& page : pages) page = rng.below(pages_);
}

Normal::Normal(std::uint64_t pages, double sigma_pages) noexcept
    : pages_(static_cast<double>(pages)), sigma_(sigma_pages), last_(pages_ - 1) {
  const double reach = pages_ / 2 / sigma_;
  lowest_ = normal_cdf(-reach);
  width_ = 1 - 2 * lowest_;
}

// Those at the ends, one in twenty, apart from the others, so that the processor can overlap these.
void Normal::draw(Rng& rng, Pages pages) const noexcept {
  double p[kMostDraws] = {};
  double quantiles[kMostDraws];
  for (std::size_t i = 0; i < pages.size(); ++i) p[i] = lowest_ + rng.unit() * width_;
  normal_quantile_of_each(p, quantiles);
  for (std::size_t i = 0; i < pages.size(); ++i) {
    const double quantile = is_at_ends(p[i]) ? normal_quantile_at_ends(p[i]) : quantiles[i];
    const double place = pages_ / 2 + sigma_ * quantile;
    pages[i] = static_cast<std::uint64_t>(std::clamp(place, 0.0, last_));  // by rounding only
  }
}

// Twelve of 32 bits, summed as whole numbers, each standing for the middle of its step.
void IrwinHall::draw(Rng& rng, Pages pages) const noexcept {
  for (std::uint64_t& page : pages) {
    double place;
    do {
      std::uint64_t sum = 0;
      for (int i = 0; i < 6; ++i) {
        const std::uint64_t two = rng.next();
        sum += (two >> 32) + (two & 0xffffffff);
      }
      place = pages_ / 2 + sigma_ * ((static_cast<double>(sum) + 6) * 0x1p-32 - 6);
    } while (!(place >= 0 && place < pages_));
    page = static_cast<std::uint64_t>(place);
  }
}

Pareto::Pareto(std::uint64_t pages, double alpha) noexcept
    : exponent_(-1 / alpha), least_(std::pow(static_cast<double>(pages) + 1, -alpha)), pages_(pages) {}

void Pareto::draw(Rng& rng, Pages pages) const noexcept {
  double u[kMostDraws];
  for (std::size_t i = 0; i < pages.size(); ++i) u[i] = least_ + rng.unit() * (1 - least_);
  power_of_each(u, pages.size(), exponent_, 0, 1);
  for (std::size_t i = 0; i < pages.size(); ++i) {
    const auto page = static_cast<std::uint64_t>(static_cast<std::int64_t>(std::max(1.0, u[i]))) - 1;
    pages[i] = std::min(page, pages_ - 1);  // by rounding only
  }
}

// So near 1, x^(1 - alpha) is 1 + (1 - alpha) ln x to all the digits that there are.
Zipf::Zipf(std::uint64_t pages, double alpha, std::uint64_t seed) noexcept
    : alpha_(alpha),
      pages_(static_cast<double>(pages)),
      above_(std::abs(1 - alpha) < 1e-7 ? 1e-7 : 1 - alpha),
      inverse_above_(1 / above_),
      begin_(integral(1.5) - 1),
      end_(integral(pages_ + 0.5)),
      surely_(2 - inverse_integral(integral(2.5) - weight(2))),
      order_(pages, seed) {}

double Zipf::weight(double x) const noexcept { return fast_exp((above_ - 1) * fast_log(x)); }

// (x^(1 - alpha) - 1) / (1 - alpha), near alpha = 1 by its series, which keeps the digits.
double Zipf::integral(double x) const noexcept {
  const double log_x = fast_log(x);
  const double y = above_ * log_x;
  if (std::abs(y) > 0.03) return (fast_exp(y) - 1) * inverse_above_;
  return log_x * (1 + y * (1.0 / 2 + y * (1.0 / 6 + y * (1.0 / 24 + y * (1.0 / 120)))));
}

double Zipf::inverse_integral(double u) const noexcept {
  return fast_exp(fast_log(std::max(1 + u * above_, kLeast)) * inverse_above_);
}

double Zipf::rank_of(double x) const noexcept {
  return static_cast<double>(static_cast<std::int64_t>(std::clamp(x, 1.0, pages_) + 0.5));
}

bool Zipf::accepts(double rank, double x, double u) const noexcept {
  return rank - x <= surely_ || u >= integral(rank + 0.5) - weight(rank);
}

// In passes, so that the arithmetic of many draws overlaps: what is rejected, a few in a hundred, is redrawn
// at the end of each.
void Zipf::draw(Rng& rng, Pages pages) const noexcept {
  double u[kMostDraws];
  alignas(32) double x[kMostDraws];
  for (std::size_t i = 0; i < pages.size(); ++i) x[i] = u[i] = uniform(rng);
  power_of_each(x, pages.size(), inverse_above_, 1, above_);
  for (std::size_t i = 0; i < pages.size(); ++i) {
    double rank = rank_of(x[i]);
    while (!accepts(rank, x[i], u[i])) {
      u[i] = uniform(rng);
      x[i] = inverse_integral(u[i]);
      rank = rank_of(x[i]);
    }
    pages[i] = static_cast<std::uint64_t>(rank) - 1;
  }
  order_.apply(pages);
}

Hotspot::Hotspot(std::uint64_t pages, double access_percent, double page_percent,
                 std::uint64_t draws_per_move, std::uint64_t seed) noexcept
    : pages_(pages),
      hot_pages_(std::clamp<std::uint64_t>(
          static_cast<std::uint64_t>(std::llround(static_cast<double>(pages) * page_percent / 100)), 1,
          pages > 1 ? pages - 1 : 1)),
      hot_below_(access_percent < 100 ? static_cast<std::uint64_t>(access_percent / 100 * 0x1p64)
                                      : ~std::uint64_t{0}),
      draws_per_move_(draws_per_move),
      draws_left_(draws_per_move),
      order_(pages, seed) {
  if (pages_ == 1) hot_below_ = ~std::uint64_t{0};
}

void Hotspot::draw(Rng& rng, Pages pages) noexcept {
  for (std::uint64_t& page : pages) {
    if (draws_per_move_ > 0 && draws_left_-- == 0) {
      draws_left_ = draws_per_move_ - 1;
      first_ += hot_pages_;
      if (first_ >= pages_) first_ -= pages_;
    }
    const bool hot = rng.next() < hot_below_;
    const std::uint64_t begin = hot ? 0 : hot_pages_;
    const std::uint64_t place = first_ + begin + rng.below(hot ? hot_pages_ : pages_ - hot_pages_);
    page = place < pages_ ? place : place - pages_;
  }
  order_.apply(pages);
}

}  // namespace nvmemu::pmbench
