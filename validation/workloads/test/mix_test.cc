// SPDX-License-Identifier: Apache-2.0
#include "workloads/mix.h"

#include <gtest/gtest.h>

namespace nvmemu::workloads {
namespace {

// A round of xorshift64* on 1, by hand: 1 >> 12 is 0; 1 ^ 1 << 25 = 0x2000001; >> 27 is 0; times the factor.
TEST(Mix, IsXorshiftStar) { EXPECT_EQ(mix(1, 1), 0x2000001 * 0x2545f4914f6cdd1dULL); }

TEST(Mix, OfNoRoundsIsTheValue) { EXPECT_EQ(mix(42, 0), 42U); }

TEST(Mix, GoesOnWhereItStopped) { EXPECT_EQ(mix(mix(7, 30), 70), mix(7, 100)); }

}  // namespace
}  // namespace nvmemu::workloads
