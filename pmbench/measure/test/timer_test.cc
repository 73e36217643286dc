// SPDX-License-Identifier: Apache-2.0
#include "measure/timer.h"

#include <gtest/gtest.h>

#include "base/clock.h"

namespace nvmemu::pmbench {
namespace {

class EveryTimer : public testing::TestWithParam<std::tuple<TimestampKind, const char*>> {
 protected:
  void SetUp() override {
    const Result<double> hz = timer_hz(std::get<0>(GetParam()));
    if (!hz) GTEST_SKIP() << "needs another processor: " << hz.error().message;
  }
};

TEST_P(EveryTimer, TicksAtTheRateThatItSays) {
  const auto& [kind, fence] = GetParam();
  const TickScale scale(*timer_hz(kind));
  const auto read = []<typename Timer>() { return Timer::end().ticks; };
  const std::uint64_t begin_ns = monotonic_raw_ns();
  const std::uint64_t begin = with_timer(kind, *parse_fence(fence), read);
  while (monotonic_raw_ns() - begin_ns < 20'000'000) {
  }
  const std::uint64_t end_ns = monotonic_raw_ns();
  const std::uint64_t passed_ns = scale.to_ns(with_timer(kind, *parse_fence(fence), read) - begin);
  // A preemption between two of the readings makes them differ: by a fifth it is no other clock.
  EXPECT_NEAR(static_cast<double>(passed_ns), static_cast<double>(end_ns - begin_ns), 4e6);
}

TEST_P(EveryTimer, HasACostOfNanoseconds) {
  const auto& [kind, fence] = GetParam();
  const TimerCost cost = measure_timer_cost(kind, *parse_fence(fence));
  const double ns = static_cast<double>(cost.read_ticks) * 1e9 / *timer_hz(kind);
  EXPECT_LT(ns, 2000);
  EXPECT_LE(cost.read_ticks, 2 * cost.write_ticks);
  EXPECT_GT(cost.pair_ns, 1);
}

INSTANTIATE_TEST_SUITE_P(All, EveryTimer,
                         testing::Combine(testing::Values(TimestampKind::kRdtscp, TimestampKind::kRdtsc,
                                                          TimestampKind::kPerfCounter,
                                                          TimestampKind::kArmCounter),
                                          testing::Values("lfence", "mfence", "none")));

TEST(TickScale, IsThatOfADivision) {
  for (const double hz : {1e9, 2.6e9, 2'599'999'123.0, 24e6, 4.9e9}) {
    const TickScale scale(hz);
    for (const std::uint64_t ticks : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{99},
                                      std::uint64_t{123'456'789}, std::uint64_t{1} << 44}) {
      const double truth = static_cast<double>(ticks) * 1e9 / hz;
      EXPECT_NEAR(static_cast<double>(scale.to_ns(ticks)), truth, 0.5 + truth * 1e-9)
          << ticks << " at " << hz;
    }
  }
}

// Microseconds in 32 bits are over after 71 minutes.
TEST(TickScale, HoldsForDays) {
  const std::uint64_t days_ns = std::uint64_t{100} * 86400 * 1'000'000'000;
  EXPECT_EQ(TickScale(1e9).to_ns(days_ns), days_ns);
}

TEST(Fence, OfAnotherNameIsRefused) {
  ASSERT_FALSE(parse_fence("sfence"));
  EXPECT_NE(parse_fence("sfence").error().message.find("sfence"), std::string::npos);
}

}  // namespace
}  // namespace nvmemu::pmbench
