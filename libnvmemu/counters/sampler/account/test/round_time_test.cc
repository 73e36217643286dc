// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/account/round_time.h"

#include <gtest/gtest.h>

namespace nvmemu {
namespace {

constexpr double kLikelyNs = 200;

// A walk whose rounds, of so many persists each, have come so far.
WalkRounds rounds_at(std::uint64_t round, double persists = 1, std::uintptr_t fence = 0x1000) {
  WalkRounds rounds{.fence = fence, .persists = persists};
  rounds.first[1] = 0 - round;
  rounds.difference[1] = ~std::uint64_t{0};
  rounds.first[2] = 64 * round;
  rounds.difference[2] = 64;
  return rounds;
}

TEST(RoundTimeTest, ARoundTakesTheTimeBetweenWalksByTheirNumber) {
  RoundTime time;
  EXPECT_EQ(time.persist_ns(rounds_at(1000), 5e6, kLikelyNs), 0);  // the first tells nothing
  EXPECT_EQ(time.over_ns(), 0);
  EXPECT_EQ(time.persist_ns(rounds_at(11000), 7.5e6, kLikelyNs), 250);
  EXPECT_EQ(time.over_ns(), 2.5e6);
  EXPECT_EQ(time.persist_ns(rounds_at(12000), 7.65e6, kLikelyNs), 150);
}

TEST(RoundTimeTest, OfSeveralPersistsEachTakesItsPart) {
  RoundTime time;
  time.persist_ns(rounds_at(0, 2), 0, kLikelyNs);
  EXPECT_EQ(time.persist_ns(rounds_at(5000, 2), 2e6, kLikelyNs), 200);
}

TEST(RoundTimeTest, AnotherLoopIsMeasuredAnew) {
  RoundTime time;
  time.persist_ns(rounds_at(0), 0, kLikelyNs);
  EXPECT_EQ(time.persist_ns(rounds_at(5000, 1, 0x2000), 1e6, kLikelyNs), 0);
  EXPECT_EQ(time.persist_ns(rounds_at(10000, 1, 0x2000), 2e6, kLikelyNs), 200);
}

TEST(RoundTimeTest, AWalkWithoutRoundsBetweenThemChangesNothing) {
  RoundTime time;
  time.persist_ns(rounds_at(0), 0, kLikelyNs);
  EXPECT_EQ(time.persist_ns({}, 1e6, kLikelyNs), 0);
  EXPECT_EQ(time.persist_ns(rounds_at(10000), 2e6, kLikelyNs), 200);
}

// The pointer goes round and round, while the counter goes on.
TEST(RoundTimeTest, ARegisterThatBeginsAnewIsNotGoneBy) {
  RoundTime time;
  time.persist_ns(rounds_at(0), 0, kLikelyNs);
  WalkRounds second = rounds_at(10000);
  second.first[2] = 64 * 100;  // 20 us a round: unlikely
  EXPECT_EQ(time.persist_ns(second, 2e6, kLikelyNs), 200);
  WalkRounds third = rounds_at(20000);
  third.first[1] = third.first[2] = 0;
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(time.persist_ns(third, 4e6, kLikelyNs), 200);  // what was measured before
  EXPECT_EQ(time.persist_ns(third, 4e6, kLikelyNs), 0);
}

// Stores past the caches to a line that is on its way already take a fifth of a flush here.
TEST(RoundTimeTest, ARegisterMayTellOfRoundsThatTakeFarLessThanAFlush) {
  RoundTime time;
  time.persist_ns(rounds_at(0), 0, kLikelyNs);
  EXPECT_EQ(time.persist_ns(rounds_at(50000), 2e6, kLikelyNs), 40);
  WalkRounds first{.fence = 0x1000, .persists = 1};
  first.words[3] = 0x100;
  first.difference[kGeneralRegisters + 3] = 1;
  WalkRounds second = first;
  second.first[kGeneralRegisters + 3] = 50000;  // which others may have counted in
  RoundTime by_word;
  by_word.persist_ns(first, 0, kLikelyNs);
  EXPECT_EQ(by_word.persist_ns(second, 2e6, kLikelyNs), 0);
}

TEST(RoundTimeTest, AWordTellsToo) {
  RoundTime time;
  WalkRounds first{.fence = 0x1000, .persists = 1};
  first.words[3] = 0x100;
  first.words[4] = 0x200;
  first.difference[kGeneralRegisters + 3] = first.difference[kGeneralRegisters + 4] = 1;
  WalkRounds second = first;
  second.first[kGeneralRegisters + 3] = 10000;
  second.words[4] = 0x300;  // another one, in its place
  second.first[kGeneralRegisters + 4] = 8000;
  time.persist_ns(first, 0, kLikelyNs);
  EXPECT_EQ(time.persist_ns(second, 2e6, kLikelyNs), 200);
}

// A word that another thread counts in, too.
TEST(RoundTimeTest, ARegisterIsGoneByBeforeAWord) {
  RoundTime time;
  WalkRounds first = rounds_at(0), second = rounds_at(10000);
  first.words[0] = second.words[0] = 0x100;
  first.difference[kGeneralRegisters] = second.difference[kGeneralRegisters] = 1;
  second.first[kGeneralRegisters] = 20000;
  time.persist_ns(first, 0, kLikelyNs);
  EXPECT_EQ(time.persist_ns(second, 2e6, kLikelyNs), 200);
}

// Persists of many lines take longer than the model of a flush has it.
TEST(RoundTimeTest, WordsThatTellTheSameAreBelievedWhateverIsLikely) {
  const auto rounds_of = [](std::uint64_t round, std::size_t words) {
    WalkRounds rounds{.fence = 0x1000, .persists = 1};
    for (std::size_t i = 0; i < words; ++i) {
      rounds.words[i] = 0x5000 + 64 * i;
      rounds.first[kGeneralRegisters + i] = round + 7 * i;
      rounds.difference[kGeneralRegisters + i] = 1;
    }
    return rounds;
  };
  const auto told = [&](std::size_t words, double likely_ns) {
    RoundTime time;
    time.persist_ns(rounds_of(0, words), 0, likely_ns);
    return time.persist_ns(rounds_of(1000, words), 2e6, likely_ns);
  };
  EXPECT_EQ(told(8, kLikelyNs), 2000);
  EXPECT_EQ(told(3, kLikelyNs), 0);
  EXPECT_EQ(told(8, 10000), 0);  // others make as many again

  RoundTime time;
  WalkRounds second = rounds_of(1000, 9);
  for (std::size_t i = 0; i < 3; ++i) second.first[kGeneralRegisters + i] = 500 + 7 * i;  // began anew
  time.persist_ns(rounds_of(0, 9), 0, kLikelyNs);
  EXPECT_EQ(time.persist_ns(second, 2e6, kLikelyNs), 0);  // three more are too few
  second = rounds_of(1000, 12);
  for (std::size_t i = 0; i < 3; ++i) second.first[kGeneralRegisters + i] = 500 + 7 * i;
  time.persist_ns(rounds_of(1, 12), 3e6, kLikelyNs);
  EXPECT_GT(time.persist_ns(second, 4e6, kLikelyNs), 0);
}

TEST(RoundTimeTest, WhatIsNoWholeNumberOfRoundsTellsNothing) {
  RoundTime time;
  WalkRounds first = rounds_at(0), second = rounds_at(0);
  first.difference[1] = second.difference[1] = 0;
  second.first[2] = 64 * 10000 + 8;
  time.persist_ns(first, 0, kLikelyNs);
  EXPECT_EQ(time.persist_ns(second, 2e6, kLikelyNs), 0);
}

}  // namespace
}  // namespace nvmemu
