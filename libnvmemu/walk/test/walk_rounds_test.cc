// SPDX-License-Identifier: Apache-2.0
#include "walk/walk_rounds.h"

#include <gtest/gtest.h>

#include "walk/unfinished_stores.h"

namespace nvmemu {
namespace {

constexpr std::uintptr_t kFenceAt = 0x1000, kOtherFence = 0x2000;
constexpr std::size_t kCounter = 1, kPointer = 2, kHash = 3;

// Of a loop that counts down and moves a pointer, with something in no order beside.
GeneralRegisters registers_of(std::uint64_t round) {
  GeneralRegisters registers{};
  registers[kCounter] = 1000 - round;
  registers[kPointer] = 64 * round;
  registers[kHash] = round * round;
  return registers;
}

// Where nothing is stored.
std::uint64_t no_word(std::uintptr_t) { return 0; }

TEST(RoundWatchTest, WhatGoesOnByAsMuchEachTimeTellsOfRounds) {
  RoundWatch watch;
  for (std::uint64_t round = 7; round < 12; ++round)
    watch.on_persist(20 * static_cast<unsigned>(round), kFenceAt, registers_of(round), no_word);
  const WalkRounds rounds = watch.take();
  EXPECT_EQ(rounds.fence, kFenceAt);
  EXPECT_EQ(rounds.persists, 1);
  EXPECT_EQ(rounds.instructions, 20);
  EXPECT_EQ(rounds.first[kCounter], 993U);
  EXPECT_EQ(rounds.difference[kCounter], ~std::uint64_t{0});
  EXPECT_EQ(rounds.difference[kPointer], 64U);
  EXPECT_EQ(rounds.difference[kHash], 0U);
  EXPECT_EQ(rounds.difference[0], 0U);
}

// The last that are stored before the first fence; what is stored later is not watched.
TEST(RoundWatchTest, WordsAreWatchedAsRegistersAre) {
  constexpr std::uintptr_t kOld = 0x10, kCount = 0x100, kLater = 0x200;
  RoundWatch watch;
  watch.on_store(kOld);
  for (std::size_t i = 0; i < kRoundWords; ++i) watch.on_store(kCount + 8 * i);
  for (std::uint64_t round = 0; round < 3; ++round) {
    watch.on_persist(0, kFenceAt, {}, [&](std::uintptr_t address) { return address + 3 * round; });
    watch.on_store(kLater);
  }
  const WalkRounds rounds = watch.take();
  for (std::size_t i = 0; i < kRoundWords; ++i) {
    EXPECT_GE(rounds.words[i], kCount);
    EXPECT_LT(rounds.words[i], kLater);
    EXPECT_EQ(rounds.first[kGeneralRegisters + i], rounds.words[i]);
    EXPECT_EQ(rounds.difference[kGeneralRegisters + i], 3U);
  }
}

// A walk that begins behind the stores of its first round.
TEST(RoundWatchTest, WhatTheLastWalkWatchedIsWatchedWhereNothingIsStored) {
  RoundWatch watch;
  watch.begin({0x100, 0x200});
  watch.on_store(0x300);
  for (std::uint64_t round = 0; round < 2; ++round)
    watch.on_persist(0, kFenceAt, {}, [&](std::uintptr_t address) { return address + round; });
  EXPECT_EQ(watch.take().words[0], 0x300U);
  EXPECT_EQ(watch.take().words[1], 0x200U);
  EXPECT_EQ(watch.take().first[kGeneralRegisters + 1], 0x200U);
}

TEST(RoundWatchTest, ARoundMayHaveSeveralPersists) {
  RoundWatch watch;
  for (std::uint64_t round = 0; round < 6; ++round) {
    for (const std::uintptr_t fence : {kFenceAt, kOtherFence, kOtherFence + 8})
      watch.on_persist(0, fence, registers_of(round), no_word);
  }
  EXPECT_EQ(watch.take().fence, kFenceAt);
  EXPECT_EQ(watch.take().persists, 3);
}

TEST(RoundWatchTest, OneRoundTellsNothing) {
  RoundWatch watch;
  watch.on_persist(0, kFenceAt, registers_of(1), no_word);
  EXPECT_EQ(watch.take().fence, 0U);
  EXPECT_EQ(RoundWatch{}.take().fence, 0U);
}

TEST(UnfinishedStoresTest, AFenceWaitsForTheSlowestStoreBeforeIt) {
  UnfinishedStores stores;
  EXPECT_EQ(stores.finish().ticks, 0);
  stores.on_store(50, 0);
  stores.on_store(400, 1);
  stores.on_store(70, 2);
  const UnfinishedStores::Slowest slowest = stores.finish();
  EXPECT_EQ(slowest.ticks, 400);
  EXPECT_EQ(slowest.tier, 1);
  EXPECT_EQ(stores.finish().ticks, 0);  // which have all been waited for
}

TEST(UnfinishedStoresTest, BehindAFlushItIsAPersistThatIsWaitedFor) {
  UnfinishedStores stores;
  stores.on_store(400, 0);
  stores.on_flush();
  EXPECT_EQ(stores.finish().ticks, 0);
  stores.on_store(400, 0);
  EXPECT_EQ(stores.finish().ticks, 400);
}

}  // namespace
}  // namespace nvmemu
