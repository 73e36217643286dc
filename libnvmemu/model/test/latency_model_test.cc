// SPDX-License-Identifier: Apache-2.0
#include "model/latency_model.h"

#include <gtest/gtest.h>

namespace nvmemu {
namespace {

EpochCounts stall(double ns) {
  EpochCounts counts;
  counts.memory_stall_ns = ns;
  return counts;
}

TEST(StallModel, ScalesStallTimeByTheExtraLatency) {
  // 80 ms of stall at 200 ns are 400,000 serial misses; each takes 300 ns more.
  EXPECT_DOUBLE_EQ(stall_delay_ns(stall(80e6), {.base_ns = 200, .target_ns = 500}), 120e6);
}

TEST(StallModel, CountsMissesByWhatTheyTakeWhereThatIsKnown) {
  EpochCounts counts = stall(80e6);
  counts.miss_latency_ns = 160;  // 500,000 misses, each 300 ns more
  EXPECT_DOUBLE_EQ(stall_delay_ns(counts, {.base_ns = 200, .target_ns = 500}), 150e6);
}

TEST(StallModel, InjectsNothingWhereNothingIsSlower) {
  EXPECT_DOUBLE_EQ(stall_delay_ns(stall(80e6), {.base_ns = 200, .target_ns = 200}), 0);
  EXPECT_DOUBLE_EQ(stall_delay_ns(stall(80e6), {.base_ns = 200, .target_ns = 150}), 0);
}

TEST(StallModel, InjectsNothingWithoutStalls) {
  EXPECT_DOUBLE_EQ(stall_delay_ns(stall(0), {.base_ns = 200, .target_ns = 500}), 0);
}

TEST(StallModel, IsHarmlessWithoutABase) {
  EXPECT_DOUBLE_EQ(stall_delay_ns(stall(80e6), {.base_ns = 0, .target_ns = 500}), 0);
}

}  // namespace
}  // namespace nvmemu
