// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/account/since_gap.h"

#include <gtest/gtest.h>

namespace nvmemu {
namespace {

constexpr double kNsPerMs = 1e6;
constexpr double kGapNs = 2e6;  // the shortest that is one

TEST(SinceGapTest, IsLongBeforeTheFirst) { EXPECT_GE(SinceGap().ms(), 48); }

TEST(SinceGapTest, CountsTheThreadsTimeFromTheLast) {
  SinceGap gap;
  gap.on_injection(kGapNs);
  EXPECT_EQ(gap.ms(), 0);
  gap.on_time(3 * kNsPerMs);
  EXPECT_DOUBLE_EQ(gap.ms(), 3);
  gap.on_injection(100 * kGapNs);
  EXPECT_EQ(gap.ms(), 0);
}

// Injects `injected_ns` after each ms that the thread runs, until that is all there is to see.
double between_injections_ms(double injected_ns) {
  SinceGap gap;
  for (int ms = 0; ms < 200; ++ms) {
    gap.on_time(kNsPerMs);
    gap.on_injection(injected_ns);
  }
  return gap.ms();
}

TEST(SinceGapTest, ShortInjectionsCountTheMoreTheLongerTheyAre) {
  EXPECT_GT(between_injections_ms(10e3), 32);
  EXPECT_LT(between_injections_ms(500e3), 32);
  EXPECT_LT(between_injections_ms(1500e3), between_injections_ms(500e3));
  EXPECT_LT(between_injections_ms(kGapNs), 1.1);
}

TEST(SinceGapTest, ShortInjectionsAreForgotten) {
  SinceGap gap;
  for (int i = 0; i < 100; ++i) gap.on_injection(kGapNs / 2);
  EXPECT_LT(gap.ms(), 1);
  gap.on_time(1000 * kNsPerMs);
  EXPECT_GT(gap.ms(), 32);
}

}  // namespace
}  // namespace nvmemu
