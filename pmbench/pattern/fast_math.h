// SPDX-License-Identifier: Apache-2.0
// Logarithm and exponential as drawing pages needs them: inline, a few ns, no call into a library from the
// timed loop, and as exact as random numbers that are rounded to pages can tell (1e-11).
#pragma once

#include <bit>
#include <cstdint>

namespace nvmemu::pmbench {

inline constexpr double kLn2 = 0.693147180559945309417;

// ln x of a normal x > 0: x = m 2^e with m in [sqrt(1/2), sqrt(2)), and ln m = 2 artanh((m - 1) / (m + 1)).
inline double fast_log(double x) noexcept {
  constexpr std::uint64_t kSqrtHalf = 0x3fe6a09e667f3bcd;
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x) - kSqrtHalf;
  const auto exponent = static_cast<std::int64_t>(bits) >> 52;
  const double m = std::bit_cast<double>((bits & 0x000fffffffffffff) + kSqrtHalf);
  const double t = (m - 1) / (m + 1);
  const double t2 = t * t;
  const double series =
      1 + t2 * (1.0 / 3 + t2 * (1.0 / 5 + t2 * (1.0 / 7 + t2 * (1.0 / 9 + t2 * (1.0 / 11 + t2 / 13)))));
  return static_cast<double>(exponent) * kLn2 + 2 * t * series;
}

// e^x for |x| < 700: e^x = 2^k e^f with |f| <= ln(2) / 2.
inline double fast_exp(double x) noexcept {
  constexpr double kRounder = 0x1.8p52;  // adding it rounds to a whole number, which is then in the low bits
  const double shifted = x * (1 / kLn2) + kRounder;
  const double k = shifted - kRounder;
  const double f = x - k * kLn2;
  const double series =
      1 + f * (1 + f * (1.0 / 2 +
                        f * (1.0 / 6 +
                             f * (1.0 / 24 +
                                  f * (1.0 / 120 +
                                       f * (1.0 / 720 +
                                            f * (1.0 / 5040 +
                                                 f * (1.0 / 40320 + f * (1.0 / 362880 + f / 3628800)))))))));
  const std::uint64_t scale = (std::bit_cast<std::uint64_t>(shifted) + 1023) << 52;
  return series * std::bit_cast<double>(scale);
}

// ln(1 + x) / x and (e^x - 1) / x, which near 0 lose all their digits when computed as written.
inline double log1p_over(double x) noexcept {
  if (x < -0.03 || x > 0.03) return fast_log(1 + x) / x;
  return 1 - x * (1.0 / 2 - x * (1.0 / 3 - x * (1.0 / 4 - x * (1.0 / 5 - x * (1.0 / 6 - x * (1.0 / 7))))));
}
inline double expm1_over(double x) noexcept {
  if (x < -0.03 || x > 0.03) return (fast_exp(x) - 1) / x;
  return 1 + x * (1.0 / 2 + x * (1.0 / 6 + x * (1.0 / 24 + x * (1.0 / 120 + x * (1.0 / 720)))));
}

}  // namespace nvmemu::pmbench
