// SPDX-License-Identifier: Apache-2.0
#include "epoch/pace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace nvmemu {
namespace {

constexpr double kWindowNs = 100e6;

// A thread that reaches edges, and samples that tell of its delay in lumps.
class PaceTest : public testing::Test {
 protected:
  // An interval at `site`, which owes `delay_ns`; what was paid for it.
  double interval(std::uintptr_t site, double cpu_ns, double delay_ns = 0, double interrupted_ns = 0) {
    balance_ns_ += delay_ns - interrupted_ns;
    const Pace::Interval interval{.cpu_ns = cpu_ns, .delay_ns = delay_ns, .interrupted_ns = interrupted_ns};
    const double due_ns = pace_.due_ns(site, interval, balance_ns_);
    balance_ns_ -= due_ns;
    return due_ns;
  }

  Pace pace_{kWindowNs};
  double balance_ns_ = 0;
};

TEST_F(PaceTest, NothingIsDueWhereNothingWasMeasured) {
  for (int i = 0; i < 100; ++i) EXPECT_DOUBLE_EQ(interval(1, 50e3), 0);
}

// One interval in 20 has a sample in it, which owes 3 ms: 150 us each.
TEST_F(PaceTest, LumpsArePaidEvenly) {
  std::vector<double> paid;
  for (int i = 0; i < 20000; ++i) {
    const double due_ns = interval(1, 50e3, i % 20 == 0 ? 3e6 : 0);
    if (i >= 10000) paid.push_back(due_ns);
  }
  const auto [least, most] = std::minmax_element(paid.begin(), paid.end());
  EXPECT_GT(*least, 0.9 * 150e3);
  EXPECT_LT(*most, 1.1 * 150e3);
}

TEST_F(PaceTest, AllThatIsOwedIsPaidInTheEnd) {
  double owed_ns = 0;
  double paid_ns = 0;
  for (int i = 0; i < 20000; ++i) {
    const double delay_ns = i % 20 == 7 ? 3e6 : 0;
    owed_ns += delay_ns;
    paid_ns += interval(1, 50e3, delay_ns);
  }
  EXPECT_NEAR(paid_ns, owed_ns, 3 * 3e6);
}

TEST_F(PaceTest, EachPlacePaysForItsOwn) {
  double inside_ns = 0;
  double outside_ns = 0;
  for (int i = 0; i < 20000; ++i) {
    inside_ns += interval(1, 50e3, i % 10 == 0 ? 2e6 : 0);  // it waits for memory,
    outside_ns += interval(2, 50e3);                        // and here it does not
  }
  EXPECT_LT(outside_ns, 0.1 * inside_ns);
}

TEST_F(PaceTest, APhaseThatNoLongerWaitsIsSoonNoLongerCharged) {
  for (int i = 0; i < 5000; ++i) interval(1, 50e3, 150e3);
  double late_ns = 0;
  for (int i = 0; i < 40000; ++i) {
    const double due_ns = interval(1, 50e3);
    if (i >= 20000) late_ns += due_ns;  // a second later, ten windows
  }
  EXPECT_LT(late_ns, 20000 * 150e3 * 0.001);
}

// Who waits for the thread has waited for the interruption: it comes off this very interval.
TEST_F(PaceTest, WhatMeasuringTookComesOffAtOnce) {
  for (int i = 0; i < 5000; ++i) interval(1, 50e3, 150e3);
  EXPECT_NEAR(interval(1, 50e3, 150e3, 50e3), 100e3, 2e3);
  EXPECT_NEAR(interval(1, 50e3, 150e3), 150e3, 2e3);
}

TEST_F(PaceTest, MoreWorkIs) {
  double short_ns = 0;
  double long_ns = 0;
  for (int i = 0; i < 20000; ++i) {
    short_ns += interval(1, 50e3, 150e3);
    long_ns += interval(1, 250e3, 750e3);
  }
  EXPECT_GT(long_ns, 4 * short_ns);
}

TEST_F(PaceTest, MoreOverheadThanDelayIsNeverPaid) {
  for (int i = 0; i < 1000; ++i) EXPECT_DOUBLE_EQ(interval(1, 50e3, -1e4), 0);
}

TEST_F(PaceTest, EdgesThatCannotBeToldApartPayWhatIsUsual) {
  double paid_ns = 0;
  for (std::uintptr_t i = 0; i < 100000; ++i) paid_ns += interval(1 + i % 1000, 50e3, i % 20 == 0 ? 3e6 : 0);
  EXPECT_NEAR(paid_ns, 100000 / 20 * 3e6, 0.01 * 100000 / 20 * 3e6);
}

}  // namespace
}  // namespace nvmemu
