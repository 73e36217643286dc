// SPDX-License-Identifier: Apache-2.0
#include "measure/statistics.h"

#include <gtest/gtest.h>

namespace nvmemu::pmbench {
namespace {

TEST(StudentT, IsTheTables) {
  EXPECT_DOUBLE_EQ(student_t_975(1), 12.706);
  EXPECT_DOUBLE_EQ(student_t_975(24), 2.064);
  EXPECT_DOUBLE_EQ(student_t_975(30), 2.042);
  // NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2.
  EXPECT_NEAR(student_t_975(31), 2.0395, 0.0005);
  EXPECT_NEAR(student_t_975(60), 2.000, 0.0005);
  EXPECT_NEAR(student_t_975(100), 1.984, 0.0005);
  EXPECT_NEAR(student_t_975(1000000), 1.960, 0.0005);
}

TEST(Estimate, IsTheMeanAndItsInterval) {
  const Estimate of = estimate({10, 12, 14});
  EXPECT_EQ(of.runs, 3);
  EXPECT_DOUBLE_EQ(of.mean, 12);
  EXPECT_DOUBLE_EQ(of.least, 10);
  EXPECT_DOUBLE_EQ(of.most, 14);
  ASSERT_TRUE(of.half_width_95);
  EXPECT_NEAR(*of.half_width_95, 4.303 * 2 / 1.7320508, 1e-3);  // t * s / sqrt(n)
}

TEST(Estimate, OfOneIsNotSure) {
  const Estimate of = estimate({10});
  EXPECT_EQ(of.runs, 1);
  EXPECT_DOUBLE_EQ(of.mean, 10);
  EXPECT_FALSE(of.half_width_95);
  EXPECT_EQ(estimate({}).runs, 0);
}

TEST(Estimate, OfRunsThatAreAllAlikeClaimsNoCertainty) { EXPECT_FALSE(estimate({3, 3, 3}).half_width_95); }

}  // namespace
}  // namespace nvmemu::pmbench
