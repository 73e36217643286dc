// SPDX-License-Identifier: Apache-2.0
#include "epoch/persist_account.h"

#include <gtest/gtest.h>

namespace nvmemu {
namespace {

constexpr PersistTarget kTarget{.first_ns = 500, .line_ns = 26};

// Rounds that take the program `own_ns` each, with a persist of `lines`: how long one takes in emulated time.
double round_ns(double own_ns, std::uint64_t lines) {
  constexpr int kRounds = 1000;
  PersistAccount account;
  double clock_ns = 1e9, owed_ns = 0;
  for (int i = 0; i < kRounds; ++i) {
    account.note(clock_ns + owed_ns, lines, kTarget);
    owed_ns += account.take_debt();
    clock_ns += own_ns;
  }
  return own_ns + owed_ns / kRounds;
}

TEST(PersistAccountTest, PersistsOneAfterTheOtherTakeTheTarget) {
  EXPECT_NEAR(round_ns(200, 1), 500, 1);
  EXPECT_NEAR(round_ns(200, 64), 500 + 63 * 26, 3);
}

TEST(PersistAccountTest, WorkBesideIsFreeUpToThat) {
  EXPECT_NEAR(round_ns(499, 1), 500, 1);
  EXPECT_NEAR(round_ns(800, 1), 800, 1);
}

// Whatever the program does beside: behind it, not beside.
TEST(PersistAccountTest, AMediumIsWaitedForAtOnce) {
  constexpr PersistTarget kMedium{.first_ns = 500, .line_ns = 26, .own_ns = 150};
  PersistAccount account;
  account.note(1000, 1, kMedium);
  EXPECT_EQ(account.take_debt(), 350);
  account.note(1000 + 350 + 150 + 10'000, 3, kMedium);
  EXPECT_EQ(account.take_debt(), 350 + 2 * 26);
}

TEST(PersistAccountTest, ASinglePersistIsNotWaitedForByItself) {
  PersistAccount account;
  account.note(1000, 1, kTarget);
  EXPECT_EQ(account.take_debt(), 0);
  EXPECT_EQ(account.until_durable_ns(1200), 300);
  EXPECT_EQ(account.until_durable_ns(1600), 0);
}

TEST(PersistAccountTest, WhatIsUntakenCountsAsEmulatedTime) {
  PersistAccount account;
  for (int i = 0; i < 10; ++i) account.note(1000 + 200 * i, 1, kTarget);
  EXPECT_EQ(account.take_debt(), 9 * 300);
  EXPECT_EQ(account.take_debt(), 0);
  EXPECT_EQ(account.persists(), 10U);
}

// By what a tick took, once that is known.
TEST(PersistAccountTest, TimeThatStepsBackIsNotWaitedForOnceMore) {
  PersistAccount account;
  account.note(1'000'000, 1, kTarget);
  account.note(900'000, 1, kTarget);
  EXPECT_EQ(account.take_debt(), 500);
  EXPECT_EQ(account.until_durable_ns(800'000), 1000);
  EXPECT_EQ(account.until_durable_ns(900'000 + 500 + 500), 0);
}

TEST(PersistAccountTest, WhatTakesNoTimeIsOnlyCounted) {
  PersistAccount account;
  account.note(1000, 1, kTarget);
  account.note(1000, 3, {});
  EXPECT_EQ(account.take_debt(), 0);
  EXPECT_EQ(account.until_durable_ns(1500), 0);
  EXPECT_EQ(account.lines(), 4U);
}

TEST(PersistAccountTest, ForgetsWhatIsUnderWay) {
  PersistAccount account;
  account.note(1000, 1, kTarget);
  account.note(1000, 1, kTarget);
  account.forget();
  EXPECT_EQ(account.take_debt(), 0);
  EXPECT_EQ(account.until_durable_ns(1000), 0);
}

}  // namespace
}  // namespace nvmemu
