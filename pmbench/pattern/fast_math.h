// SPDX-License-Identifier: Apache-2.0
// Logarithm and exponential as drawing pages needs them: a few ns, no call into a library from the timed
// loop, no branch, so that several are under way at a time. Good to 1e-8, in a way that changes smoothly:
// what is rounded to pages cannot tell.
#pragma once

#include <bit>
#include <cstdint>

namespace nvmemu::pmbench {

// One at a time, or as many as a vector of the compiler's holds: Bits is the whole number, or vector of such,
// that is as large.
using FourReals [[gnu::vector_size(32)]] = double;
using FourBits [[gnu::vector_size(32)]] = std::uint64_t;

inline constexpr double kLn2 = 0.693147180559945309417;

// ln x of a normal x > 0: x = m 2^e with m in [sqrt(1/2), sqrt(2)), and ln m = 2 artanh((m - 1) / (m + 1)),
// which keeps its digits near x = 1. The exponent becomes a double by being put into the low bits of one.
template <typename Real = double, typename Bits = std::uint64_t>
[[gnu::always_inline]] inline Real fast_log(Real x) noexcept {
  constexpr std::uint64_t kSqrtHalf = 0x3fe6a09e667f3bcd;
  constexpr std::uint64_t kMantissa = 0x000fffffffffffff;
  constexpr std::uint64_t kTwoTo52 = 0x4330000000000000;
  constexpr std::uint64_t kBias = std::uint64_t{1023} << 52;
  const Bits bits = std::bit_cast<Bits>(x) - kSqrtHalf;
  const Real exponent = std::bit_cast<Real>(((bits + kBias) >> 52) | kTwoTo52) - (0x1p52 + 1023);
  const Real m = std::bit_cast<Real>((bits & kMantissa) + kSqrtHalf);
  const Real t = (m - 1) / (m + 1);
  const Real t2 = t * t;
  const Real t4 = t2 * t2;
  const Real series = (1 + t2 * (1.0 / 3)) + t4 * ((1.0 / 5 + t2 * (1.0 / 7)) + t4 * (1.0 / 9));
  return exponent * kLn2 + 2 * t * series;
}

// e^x for |x| < 700: e^x = 2^k e^f with |f| <= ln(2) / 2.
template <typename Real = double, typename Bits = std::uint64_t>
[[gnu::always_inline]] inline Real fast_exp(Real x) noexcept {
  constexpr double kRounder = 0x1.8p52;  // adding it rounds to a whole number, which is then in the low bits
  const Real shifted = x * (1 / kLn2) + kRounder;
  const Real f = x - (shifted - kRounder) * kLn2;
  const Real f2 = f * f;
  const Real f4 = f2 * f2;
  const Real series = (1 + f) + f2 * (1.0 / 2 + f * (1.0 / 6)) +
                      f4 * ((1.0 / 24 + f * (1.0 / 120)) + f2 * (1.0 / 720 + f * (1.0 / 5040)));
  const Bits scale = (std::bit_cast<Bits>(shifted) + 1023) << 52;
  return series * std::bit_cast<Real>(scale);
}

}  // namespace nvmemu::pmbench
