// SPDX-License-Identifier: Apache-2.0
#include "walk/walk_rounds.h"

#include <gtest/gtest.h>

#include <functional>

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

struct Memory {
  std::function<std::uint64_t(std::uintptr_t)> walked = [](std::uintptr_t) { return 0; };
  std::function<std::uint64_t(std::uintptr_t)> real = [](std::uintptr_t) { return 0; };

  std::uint64_t as_walked(std::uintptr_t address) const { return walked(address); }
  std::uint64_t as_it_is(std::uintptr_t address) const { return real(address); }
};
const Memory no_word;
OthersWords nobodys{};

TEST(RoundWatchTest, WhatGoesOnByAsMuchEachTimeTellsOfRounds) {
  RoundWatch watch;
  for (std::uint64_t round = 7; round < 12; ++round)
    watch.on_persist(20 * static_cast<unsigned>(round), kFenceAt, registers_of(round), no_word);
  const WalkRounds rounds = watch.take(no_word, nobodys);
  EXPECT_EQ(rounds.fence, kFenceAt);
  EXPECT_EQ(rounds.persists, 1);
  EXPECT_EQ(rounds.instructions, 20);
  EXPECT_EQ(rounds.first[kCounter], 993U);
  EXPECT_EQ(rounds.difference[kCounter], ~std::uint64_t{0});
  EXPECT_EQ(rounds.difference[kPointer], 64U);
  EXPECT_EQ(rounds.difference[kHash], 0U);
  EXPECT_EQ(rounds.difference[0], 0U);
}

WalkRounds rounds_of_words(RoundWatch& watch, std::uint64_t rounds, auto store) {
  for (std::uint64_t round = 0; round < rounds; ++round) {
    watch.on_persist(0, kFenceAt, {}, Memory{[=](std::uintptr_t address) { return address + 3 * round; }});
    store(round);
  }
  return watch.take(no_word, nobodys);
}

TEST(RoundWatchTest, WordsAreWatchedAsRegistersAre) {
  constexpr std::uintptr_t kCount = 0x100;
  RoundWatch watch;
  watch.on_store(kCount);
  const WalkRounds rounds = rounds_of_words(watch, 3, [&](std::uint64_t) { watch.on_store(kCount); });
  const std::size_t place = RoundWatch::place_of(kCount);
  EXPECT_EQ(rounds.words[place], kCount);
  EXPECT_EQ(rounds.first[kGeneralRegisters + place], kCount);
  EXPECT_EQ(rounds.difference[kGeneralRegisters + place], 3U);
}

// A walk that begins between the stores of a round and its fence: it begins anew with the next.
TEST(RoundWatchTest, WhatIsStoredBehindTheFirstFenceIsWatchedFromTheSecondOn) {
  constexpr std::uintptr_t kCount = 0x100;
  RoundWatch watch;
  const WalkRounds rounds = rounds_of_words(watch, 3, [&](std::uint64_t) { watch.on_store(kCount); });
  const std::size_t place = RoundWatch::place_of(kCount);
  EXPECT_EQ(rounds.words[place], kCount);
  EXPECT_EQ(rounds.first[kGeneralRegisters + place], kCount + 3);
  EXPECT_EQ(rounds.difference[kGeneralRegisters + place], 3U);
  EXPECT_EQ(rounds.persists, 1);
}

// Of a place that has one that is stored in this walk: it keeps that. Of one that the last walk has left, it
// does not.
TEST(RoundWatchTest, WhatIsStoredBehindTheFenceTakesAPlaceOfWhatIsNotStored) {
  constexpr std::uintptr_t kCount = 0x100;
  const std::size_t place = RoundWatch::place_of(kCount);
  std::uintptr_t other = kCount + 8;
  while (RoundWatch::place_of(other) != place) other += 8;
  RoundWatch watch;
  watch.on_store(other);
  EXPECT_EQ(rounds_of_words(watch, 3, [&](std::uint64_t) { watch.on_store(kCount); }).words[place], other);

  RoundWatch next;
  std::array<std::uintptr_t, kRoundWords> before{};
  before[place] = other;
  next.begin(before);
  EXPECT_EQ(rounds_of_words(next, 3, [&](std::uint64_t) { next.on_store(kCount); }).words[place], kCount);
}

// A log, whose records are never stored to again: its rounds are told by registers, after one that is lost.
TEST(RoundWatchTest, ALoopThatStoresToOtherWordsEachRoundBeginsAnewOnce) {
  RoundWatch watch;
  std::uintptr_t record = 0x1000;
  for (std::uint64_t round = 0; round < 4; ++round) {
    watch.on_persist(20 * static_cast<unsigned>(round), kFenceAt, registers_of(round), no_word);
    watch.on_store(record += 0x40);
  }
  EXPECT_EQ(watch.passes(), 3U);
  EXPECT_EQ(watch.take(no_word, nobodys).difference[kPointer], 64U);
}

// A walk that begins behind the stores of its first round.
TEST(RoundWatchTest, WhatTheLastWalkWatchedIsWatchedWhereNothingIsStored) {
  RoundWatch watch;
  constexpr std::uintptr_t kBefore = 0x200, kNow = 0x300;
  ASSERT_NE(RoundWatch::place_of(kBefore), RoundWatch::place_of(kNow));
  std::array<std::uintptr_t, kRoundWords> before{};
  before[RoundWatch::place_of(kBefore)] = kBefore;
  watch.begin(before);
  watch.on_store(kNow);
  for (std::uint64_t round = 0; round < 2; ++round)
    watch.on_persist(0, kFenceAt, {}, Memory{[&](std::uintptr_t address) { return address + round; }});
  const WalkRounds rounds = watch.take(no_word, nobodys);
  EXPECT_EQ(rounds.words[RoundWatch::place_of(kNow)], kNow);
  EXPECT_EQ(rounds.words[RoundWatch::place_of(kBefore)], kBefore);
  EXPECT_EQ(rounds.first[kGeneralRegisters + RoundWatch::place_of(kBefore)], kBefore);
}

// What its registers tell of is not lost for what words may: as long a round would not be passed any more.
TEST(RoundWatchTest, ALongLoopDoesNotBeginAnew) {
  constexpr unsigned kFirst = 7'000;
  struct Case {
    unsigned round_steps;
    std::uint32_t passes;
  };
  for (const auto& [round_steps, passes] :
       {Case{13'000, 1}, Case{16'499, 1}, Case{16'500, 2}, Case{19'000, 2}}) {
    RoundWatch watch;
    watch.on_persist(kFirst, kFenceAt, registers_of(0), no_word);
    watch.on_store(0x1000);
    watch.on_persist(kFirst + round_steps, kFenceAt, registers_of(1), no_word);
    EXPECT_EQ(watch.passes(), passes) << round_steps;
  }
}

// A number that all threads take the next of goes on by one in a walk, and by more meanwhile.
TEST(RoundWatchTest, AWordThatOthersChangeTellsNothing) {
  constexpr std::uintptr_t kShared = 0x100, kOwn = 0x200;
  RoundWatch watch;
  watch.on_store(kShared);
  watch.on_store(kOwn);
  std::uint64_t others = 0;
  const auto real = [&](std::uintptr_t address) { return address == kShared ? others : 0; };
  for (std::uint64_t round = 0; round < 2; ++round)
    watch.on_persist(0, kFenceAt, {}, Memory{[&](std::uintptr_t) { return round; }, real});
  others = 5;
  OthersWords seen{};
  const auto difference_of = [&](std::uintptr_t address) {
    return watch.take(Memory{.real = real}, seen)
        .difference[kGeneralRegisters + RoundWatch::place_of(address)];
  };
  EXPECT_EQ(difference_of(kShared), 0U);
  EXPECT_EQ(difference_of(kOwn), 1U);
  others = 0;  // they have not changed it this time
  EXPECT_EQ(difference_of(kShared), 0U);
}

// Nor does a register that it was read to.
TEST(RoundWatchTest, WhatWasReadOfSuchAWordTellsNothing) {
  RoundWatch watch;
  watch.on_store(0x100);
  for (std::uint64_t round = 8; round < 10; ++round) {
    GeneralRegisters registers{};
    registers[kCounter] = round - 1;
    registers[kPointer] = 64 * round;
    watch.on_persist(0, kFenceAt, registers, Memory{[&](std::uintptr_t) { return round; }});
  }
  OthersWords seen{};
  EXPECT_EQ(watch.take(no_word, seen).difference[kCounter], 1U);
  seen.add(0x100);
  EXPECT_EQ(watch.take(no_word, seen).difference[kCounter], 0U);
  EXPECT_EQ(watch.take(no_word, seen).difference[kPointer], 64U);
}

TEST(RoundWatchTest, ARoundMayHaveSeveralPersists) {
  RoundWatch watch;
  for (std::uint64_t round = 0; round < 6; ++round) {
    for (const std::uintptr_t fence : {kFenceAt, kOtherFence, kOtherFence + 8})
      watch.on_persist(0, fence, registers_of(round), no_word);
  }
  EXPECT_EQ(watch.take(no_word, nobodys).fence, kFenceAt);
  EXPECT_EQ(watch.take(no_word, nobodys).persists, 3);
}

TEST(RoundWatchTest, OneRoundTellsNothing) {
  RoundWatch watch;
  watch.on_persist(0, kFenceAt, registers_of(1), no_word);
  EXPECT_EQ(watch.take(no_word, nobodys).fence, 0U);
  EXPECT_EQ(RoundWatch{}.take(no_word, nobodys).fence, 0U);
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
