// SPDX-License-Identifier: Apache-2.0
#include "pattern/distributions.h"

#include <algorithm>

namespace nvmemu::pmbench {
namespace {

double normal_cdf(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }

// The quantile of the normal distribution, relative error 1.2e-9: P. J. Acklam, An algorithm for computing
// the inverse normal cumulative distribution function (2003).
double normal_quantile(double p) noexcept {
  constexpr double kLow = 0.02425;
  const auto tail = [](double q) {
    return (((((-7.784894002430293e-03 * q - 3.223964580411365e-01) * q - 2.400758277161838e+00) * q -
              2.549732539343734e+00) *
                 q +
             4.374664141464968e+00) *
                q +
            2.938163982698783e+00) /
           ((((7.784695709041462e-03 * q + 3.224671290700398e-01) * q + 2.445134137142996e+00) * q +
             3.754408661907416e+00) *
                q +
            1);
  };
  if (p < kLow) return tail(std::sqrt(-2 * fast_log(p)));
  if (p > 1 - kLow) return -tail(std::sqrt(-2 * fast_log(1 - p)));
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

}  // namespace

Normal::Normal(std::uint64_t pages, double sigma_pages) noexcept
    : pages_(static_cast<double>(pages)), sigma_(sigma_pages) {
  const double reach = pages_ / 2 / sigma_;
  lowest_ = normal_cdf(-reach);
  width_ = 1 - 2 * lowest_;
}

std::uint64_t Normal::operator()(Rng& rng) const noexcept {
  for (;;) {  // more than once by rounding only
    const double page = pages_ / 2 + sigma_ * normal_quantile(lowest_ + rng.unit() * width_);
    if (page >= 0 && page < pages_) return static_cast<std::uint64_t>(page);
  }
}

ZipfRank::ZipfRank(std::uint64_t pages, double alpha) noexcept
    : alpha_(alpha), pages_(static_cast<double>(pages)) {
  integral_begin_ = integral(1.5) - 1;
  integral_end_ = integral(pages_ + 0.5);
  surely_ = 2 - inverse_integral(integral(2.5) - weight(2));
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

}  // namespace nvmemu::pmbench
