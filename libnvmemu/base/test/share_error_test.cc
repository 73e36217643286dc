// SPDX-License-Identifier: Apache-2.0
#include "base/share_error.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace nvmemu {
namespace {

TEST(ShareError, IsThatOfReadingsThatFallByChance) {
  const std::array<double, 8> alike{0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3};
  const double p = (1000 * 0.3 + 2) / 1004;
  EXPECT_NEAR(share_error_95(alike, 0.3, 1000), 1.96 * std::sqrt(p * (1 - p) / 1004), 1e-12);
  EXPECT_GT(share_error_95(std::array{0.0, 0.0}, 0, 20), 0.05);  // never 0
}

TEST(ShareError, OrOfMeasurementsThatDiffer) {
  const std::array<double, 4> apart{0.2, 0.4, 0.2, 0.4};
  EXPECT_NEAR(share_error_95(apart, 0.3, 1e6), 3.18 * std::sqrt(0.04 / 12), 1e-12);
}

TEST(ShareError, IsAllThatThereCanBeWhereNothingIsKnown) {
  EXPECT_EQ(share_error_95({}, 0.2, 0), 0.8);
  EXPECT_EQ(share_error_95(std::array{0.7}, 0.7, 1e6), 0.7);
  EXPECT_EQ(share_error_95(std::array{0.0, 1.0}, 0.5, 2), 0.5);
}

}  // namespace
}  // namespace nvmemu
