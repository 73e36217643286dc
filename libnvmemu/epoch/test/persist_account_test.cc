// SPDX-License-Identifier: Apache-2.0
#include "epoch/persist_account.h"

#include <gtest/gtest.h>

#include <vector>

#include "device/device.h"
#include "plan/persist_spec.h"

namespace nvmemu {
namespace {

constexpr PersistTarget kTarget{.first_ns = 500, .line_ns = 26};

// Rounds that take the program `own_ns` each, with a persist of `lines`: how long one takes in emulated time.
double round_ns(double own_ns, std::uint64_t lines) {
  constexpr int kRounds = 1000;
  PersistAccount account;
  double clock_ns = 1e9, owed_ns = 0;
  for (int i = 0; i < kRounds; ++i) {
    account.note(clock_ns + owed_ns, {lines, lines}, kTarget);
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
  account.note(1000, {1, 1}, kMedium);
  EXPECT_EQ(account.take_debt(), 350);
  account.note(1000 + 350 + 150 + 10'000, {3, 3}, kMedium);
  EXPECT_EQ(account.take_debt(), 350 + 2 * 26);
}

TEST(PersistAccountTest, ASinglePersistIsNotWaitedForByItself) {
  PersistAccount account;
  account.note(1000, {1, 1}, kTarget);
  EXPECT_EQ(account.take_debt(), 0);
  EXPECT_EQ(account.until_durable_ns(1200), 300);
  EXPECT_EQ(account.until_durable_ns(1600), 0);
}

TEST(PersistAccountTest, WhatIsUntakenCountsAsEmulatedTime) {
  PersistAccount account;
  for (int i = 0; i < 10; ++i) account.note(1000 + 200 * i, {1, 1}, kTarget);
  EXPECT_EQ(account.take_debt(), 9 * 300);
  EXPECT_EQ(account.take_debt(), 0);
  EXPECT_EQ(account.persists(), 10U);
}

// By what a tick took, once that is known.
TEST(PersistAccountTest, TimeThatStepsBackIsNotWaitedForOnceMore) {
  PersistAccount account;
  account.note(1'000'000, {1, 1}, kTarget);
  account.note(900'000, {1, 1}, kTarget);
  EXPECT_EQ(account.take_debt(), 500);
  EXPECT_EQ(account.until_durable_ns(800'000), 1000);
  EXPECT_EQ(account.until_durable_ns(900'000 + 500 + 500), 0);
}

TEST(PersistAccountTest, WhatTakesNoTimeIsOnlyCounted) {
  PersistAccount account;
  account.note(1000, {1, 1}, kTarget);
  account.note(1000, {3, 3}, {});
  EXPECT_EQ(account.take_debt(), 0);
  EXPECT_EQ(account.until_durable_ns(1500), 0);
  EXPECT_EQ(account.lines(), 4U);
}

// A call that returns when all is durable, and not before: 500 - 100 that are still to come.
TEST(PersistAccountTest, WhatReturnsOnceItIsDurableIsWaitedFor) {
  PersistAccount account;
  account.note(1000, {1, 1}, kTarget);
  account.wait(1100);
  EXPECT_EQ(account.take_debt(), 400);
  account.wait(1100 + 400);
  EXPECT_EQ(account.take_debt(), 0);
}

// Rounds of the lengths, each of `size`, one after the other: emulated time from begin to begin.
std::vector<double> rounds_ns(const PersistSize& size, const PersistTarget& target, int rounds) {
  PersistAccount account;
  std::vector<double> lengths_ns;
  double clock_ns = 1e9;
  for (int i = 0; i <= rounds; ++i) {
    account.note(clock_ns, size, target);
    lengths_ns.push_back(account.take_debt());  // of the round before, which took nothing else
    clock_ns += lengths_ns.back();
  }
  lengths_ns.erase(lengths_ns.begin());
  return lengths_ns;
}

// Each block takes the medium 104 ns, which is more than a persist: when the 260 ns of the queue are full,
// the medium's pace is what counts.
TEST(PersistAccountTest, PersistsGoAtTheirLatencyUntilTheQueueIsFull) {
  constexpr PersistTarget kQueued{
      .first_ns = 50, .line_ns = 26, .block_ns = 104, .queue_ns = 260, .block_bytes = 256};
  // Left to write when each begins: 0, 54, 108, 162, 216 (60 beyond the queue with its own block), ...
  EXPECT_EQ(rounds_ns({1, 1}, kQueued, 6), (std::vector<double>{50, 50, 50, 50, 60, 104}));
}

// Four lines in four blocks cost four blocks, and in one no more than lines do.
TEST(PersistAccountTest, ABlockIsWrittenWholeHoweverFewOfItsLinesAre) {
  constexpr PersistTarget kBlocks{.first_ns = 100, .line_ns = 26, .block_ns = 104, .block_bytes = 256};
  EXPECT_EQ(rounds_ns({4, 4}, kBlocks, 2), (std::vector<double>{416, 416}));
  EXPECT_EQ(rounds_ns({4, 1}, kBlocks, 2), (std::vector<double>{178, 178}));
}

// Store, clwb and fence of 64, 256, 1024 and 4096 bytes, by the data of Yang et al., FAST 2020
// (12-flush_instr_lat), on a machine on which a line takes what it took there.
TEST(PersistAccountTest, OptanesCurveIsMetByItsProfile) {
  const Device device = find_built_in_profile("optane-dcpmm")->device;
  const PersistSpec spec = persist_spec_of(device);
  const PersistTarget target = persist_target_of(spec, 116 / spec.latency.multiple);
  struct Point {
    PersistSize size;
    double ns;
  };
  for (const auto& [size, ns] :
       {Point{{1, 1}, 116}, Point{{4, 1}, 192}, Point{{16, 4}, 601}, Point{{64, 16}, 1774}})
    EXPECT_NEAR(rounds_ns(size, target, 100).back(), ns, 0.15 * ns) << size.lines;
  // Scattered, 64 bytes at a time: a quarter of what a module writes in blocks (0.51 of 1.75 GB/s by clwb).
  EXPECT_NEAR(64 / rounds_ns({1, 1}, target, 100).back(), 0.51, 0.06);
}

TEST(PersistAccountTest, ForgetsWhatIsUnderWay) {
  PersistAccount account;
  account.note(1000, {1, 1}, kTarget);
  account.note(1000, {1, 1}, kTarget);
  account.forget();
  EXPECT_EQ(account.take_debt(), 0);
  EXPECT_EQ(account.until_durable_ns(1000), 0);
}

TEST(PersistAccountTest, SaysHowLongMediaAreBusy) {
  PersistAccount account;
  account.note(1000, {.lines = 10, .blocks = 4}, {.first_ns = 100, .line_ns = 20, .tier = 1});
  account.note(1000, {.lines = 10, .blocks = 4}, {.first_ns = 100, .line_ns = 20, .block_ns = 80, .tier = 2});
  EXPECT_EQ(account.take_busy_ns(1), 200) << "lines";
  EXPECT_EQ(account.take_busy_ns(2), 320) << "whole blocks";
  EXPECT_EQ(account.take_busy_ns(1), 0) << "once";
  account.note(1000, {.lines = 1, .blocks = 1}, {.first_ns = 100, .line_ns = 20, .tier = 1});
  account.forget();
  EXPECT_EQ(account.take_busy_ns(1), 0);
}

}  // namespace
}  // namespace nvmemu
