// SPDX-License-Identifier: Apache-2.0
#include "workloads/sum.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace nvmemu::workloads {
namespace {

TEST(Sum, AddsEveryElement) {
  std::vector<double> values(1001);
  std::iota(values.begin(), values.end(), 0);
  EXPECT_EQ(sum_in_order(values), 500500);
}

TEST(Sum, OfNothingIsZero) { EXPECT_EQ(sum_in_order({}), 0); }

TEST(Sum, AddsInOrder) {  // in any other order the small ones survive
  const std::vector<double> values = {1e16, 1, 1, 1, 1, -1e16};
  EXPECT_EQ(sum_in_order(values), 0);
}

TEST(Sum, AddsEveryInteger) {
  std::vector<std::uint64_t> values(1001);
  std::iota(values.begin(), values.end(), 0);
  EXPECT_EQ(sum_of_integers(values), 500500u);
}

TEST(Fill, HasTheSameNumbersOfEitherKind) {
  std::vector<double> doubles(100);
  std::vector<std::uint64_t> integers(100);
  fill(doubles, 1);
  fill(integers, 1);
  EXPECT_EQ(doubles, std::vector<double>(integers.begin(), integers.end()));
}

TEST(Fill, IsTheSameForTheSameSeedOnly) {
  std::vector<double> first(100), second(100), other(100);
  fill(first, 1);
  fill(second, 1);
  fill(other, 2);
  EXPECT_EQ(first, second);
  EXPECT_NE(first, other);
}

}  // namespace
}  // namespace nvmemu::workloads
