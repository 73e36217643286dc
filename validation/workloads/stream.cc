// SPDX-License-Identifier: Apache-2.0
#include "workloads/stream.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace nvmemu::workloads {
namespace {

// A round multiplies `a` by 2 q + q^2: with the square root of 2, less 1, by one. However many rounds, no
// element overflows or becomes denormal.
constexpr double kFactor = 0.41421356237309503;

[[gnu::noinline]] void copy(StreamArrays arrays) noexcept {
  const double* __restrict a = arrays.a.data();
  double* __restrict c = arrays.c.data();
  for (std::size_t i = 0; i < arrays.a.size(); ++i) c[i] = a[i];
}

[[gnu::noinline]] void scale(StreamArrays arrays) noexcept {
  double* __restrict b = arrays.b.data();
  const double* __restrict c = arrays.c.data();
  for (std::size_t i = 0; i < arrays.a.size(); ++i) b[i] = kFactor * c[i];
}

[[gnu::noinline]] void add(StreamArrays arrays) noexcept {
  const double* __restrict a = arrays.a.data();
  const double* __restrict b = arrays.b.data();
  double* __restrict c = arrays.c.data();
  for (std::size_t i = 0; i < arrays.a.size(); ++i) c[i] = a[i] + b[i];
}

[[gnu::noinline]] void triad(StreamArrays arrays) noexcept {
  double* __restrict a = arrays.a.data();
  const double* __restrict b = arrays.b.data();
  const double* __restrict c = arrays.c.data();
  for (std::size_t i = 0; i < arrays.a.size(); ++i) a[i] = b[i] + kFactor * c[i];
}

// Of whole numbers, which a compiler may add in any order.
[[gnu::noinline]] void sum(StreamArrays arrays) noexcept {
  const double* __restrict a = arrays.a.data();
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < arrays.a.size(); ++i) total += std::bit_cast<std::uint64_t>(a[i]);
  asm volatile("" : : "r"(total));
}

bool all_near(std::span<const double> values, double expected) {
  return std::all_of(values.begin(), values.end(),
                     [=](double value) { return std::abs(value - expected) <= 1e-9 * std::abs(expected); });
}

}  // namespace

const std::array<StreamKernel, 5> kStreamKernels = {{
    {"copy", 2, 2, 1, &copy},
    {"scale", 2, 2, 1, &scale},
    {"add", 3, 3, 1, &add},
    {"triad", 3, 3, 1, &triad},
    {"sum", 1, 1, 0, &sum},
}};

void fill(StreamArrays arrays) noexcept {
  std::fill(arrays.a.begin(), arrays.a.end(), kStreamStart[0]);
  std::fill(arrays.b.begin(), arrays.b.end(), kStreamStart[1]);
  std::fill(arrays.c.begin(), arrays.c.end(), kStreamStart[2]);
}

bool holds_result_of(StreamArrays arrays, std::size_t rounds) {
  auto [a, b, c] = kStreamStart;
  for (std::size_t round = 0; round < rounds; ++round) {
    c = a;
    b = kFactor * c;
    c = a + b;
    a = b + kFactor * c;
  }
  return all_near(arrays.a, a) && all_near(arrays.b, b) && all_near(arrays.c, c);
}

}  // namespace nvmemu::workloads
