// SPDX-License-Identifier: Apache-2.0
#include "walk/walk_persists.h"

#include <gtest/gtest.h>

namespace nvmemu {
namespace {

constexpr unsigned kFar = PersistWatch::kNearSteps + 1;

struct NoWords {
  static std::uint64_t as_walked(std::uintptr_t) { return 0; }
  static std::uint64_t as_it_is(std::uintptr_t) { return 0; }
};

OthersWords others{};

void fence(PersistWatch& watch, unsigned step) { watch.on_fence(step, 0x1000, {}, NoWords{}); }

TEST(PersistWatchTest, AFenceBehindFlushesIsAPersistOfTheirLines) {
  PersistWatch watch;
  fence(watch, 0);  // behind nothing
  for (std::uintptr_t line = 0; line < 4; ++line) watch.on_flush(1, 64 * line, 0);
  fence(watch, 2);
  fence(watch, 3);
  watch.on_flush(4, 0, 0);  // not waited for
  const WalkPersists passed = watch.take(100, 10, NoWords{}, others);
  EXPECT_EQ(passed.modelled.persists[0], 1U);
  EXPECT_EQ(passed.modelled.lines[0], 4U);
  EXPECT_EQ(passed.ns, 100);
}

TEST(PersistWatchTest, ALineThatWasThrownOutIsFetchedAgain) {
  const auto refetched = [](bool evicts, std::uintptr_t apart) {
    PersistWatch watch;
    for (unsigned round = 0; round < 3; ++round) {
      watch.on_flush(2 * round, round * apart, 0, 0, evicts);
      fence(watch, 2 * round + 1);
    }
    return watch.take(1, 10, NoWords{}, others).modelled.refetched[0];
  };
  EXPECT_EQ(refetched(true, 0), 2U);
  EXPECT_EQ(refetched(false, 0), 0U);
  EXPECT_EQ(refetched(true, 64), 0U);
}

TEST(PersistWatchTest, ALineIsOneHoweverManyStoresMakeIt) {
  PersistWatch watch;
  for (std::uintptr_t word = 0; word < 16; ++word) watch.on_flush(0, 8 * word, 0);
  fence(watch, 1);
  EXPECT_EQ(watch.take(1, 10, NoWords{}, others).modelled.lines[0], 2U);
}

// What a walk goes on for is in no model.
TEST(PersistWatchTest, WhatIsPassedLaterIsNotModelled) {
  PersistWatch watch;
  for (unsigned round = 0; round < 3; ++round) {
    watch.on_flush(2 * round, 0, 0);
    fence(watch, 2 * round + 1);
    EXPECT_EQ(watch.is_in_first_round(), round == 0);
    watch.end_modelled();
  }
  EXPECT_EQ(watch.take(1, 10, NoWords{}, others).modelled.persists[0], 1U);
  EXPECT_EQ(watch.take(1, 10, NoWords{}, others).all.persists[0], 2U);
  EXPECT_EQ(watch.take(1, 10, NoWords{}, others).rounds.persists, 1);
}

// A walk that begins amid the flushes of a persist.
TEST(PersistWatchTest, OfSeveralTheFirstMayBeAPart) {
  PersistWatch watch;
  watch.on_flush(0, 0, 0);
  fence(watch, 1);
  EXPECT_EQ(watch.take(1, 10, NoWords{}, others).all.lines[0], 1U);
  for (unsigned round = 0; round < 2; ++round) {
    for (std::uintptr_t line = 0; line < 4; ++line) watch.on_flush(2, 64 * line, 0);
    fence(watch, 3);
  }
  EXPECT_EQ(watch.take(1, 10, NoWords{}, others).all.persists[0], 2U);
  EXPECT_EQ(watch.take(1, 10, NoWords{}, others).all.lines[0], 8U);
}

// Of a medium that writes 256 bytes at once: by turns in two blocks, then on and on in one.
TEST(PersistWatchTest, FlushesThatFollowInABlockAreOneWriteOfIt) {
  PersistWatch watch;
  for (unsigned round = 0; round < 4; ++round) {
    watch.on_flush(2 * round, 0x1000, 0, 256);
    watch.on_flush(2 * round, 0x2000, 0, 256);
    fence(watch, 2 * round + 1);
  }
  for (std::uintptr_t line = 0; line < 12; ++line) {
    watch.on_flush(20, 0x2040 + 64 * line, 0, 256);
    fence(watch, 21);
  }
  const WalkPersists passed = watch.take(1, 30, NoWords{}, others);
  EXPECT_EQ(passed.modelled.lines[0], 8U + 12U);
  EXPECT_EQ(passed.modelled.blocks[0], 8U + 3U);  // three lines are left of the block that was last, then two
                                                  // whole ones and one line of a third
}

TEST(PersistWatchTest, LinesCountInTheirTier) {
  PersistWatch watch;
  watch.on_flush(0, 0, 1);
  watch.on_flush(0, 64, 2);
  watch.on_flush(0, 128, 2);
  fence(watch, 1);
  const WalkPersists passed = watch.take(1, 10, NoWords{}, others);
  EXPECT_EQ(passed.modelled.persists[1], 1U);
  EXPECT_EQ(passed.modelled.persists[2], 1U);
  EXPECT_EQ(passed.modelled.lines[2], 2U);
  EXPECT_EQ(passed.modelled.persists[0], 0U);
}

// As libpmem's are, before.
TEST(PersistWatchTest, WhatIsToldBeforeIsNotCounted) {
  PersistWatch watch;
  for (unsigned round = 0; round < 5; ++round) {
    watch.on_told(20 * round);
    watch.on_flush(20 * round + 5, 0, 0);
    fence(watch, 20 * round + 6);
  }
  EXPECT_EQ(watch.take(1, 10, NoWords{}, others).modelled.persists[0], 0U);
}

// A walk must not end before it is known.
TEST(PersistWatchTest, TheLastMayBeToldOfForAWhile) {
  PersistWatch watch;
  EXPECT_FALSE(watch.may_be_told(0));
  watch.on_flush(1, 0, 0);
  fence(watch, 2);
  EXPECT_TRUE(watch.may_be_told(3));
  EXPECT_FALSE(watch.may_be_told(2 + kFar));
  watch.on_told(10);
  EXPECT_FALSE(watch.may_be_told(11));
  for (const unsigned step : {20U, 30U}) {
    watch.on_flush(step, 0, 0);
    fence(watch, step + 1);
  }
  EXPECT_FALSE(watch.may_be_told(32));  // as the one before was not
}

// As by nvmemu_persisted(), behind; the last one's end the walk does not reach.
TEST(PersistWatchTest, WhatIsToldBehindIsNotCounted) {
  PersistWatch watch;
  for (unsigned round = 0; round < 5; ++round) {
    watch.on_flush(20 * round, 0, 0);
    fence(watch, 20 * round + 1);
    if (round < 4) watch.on_told(20 * round + 3);
  }
  EXPECT_EQ(watch.take(1, 10, NoWords{}, others).modelled.persists[0], 0U);
}

TEST(PersistWatchTest, WhatIsToldElsewhereIsOfOthers) {
  PersistWatch watch;
  watch.on_flush(0, 0, 0);
  fence(watch, 1);
  watch.on_told(1 + kFar);
  watch.on_flush(1 + 2 * kFar + 1, 0, 0);
  fence(watch, 2 + 2 * kFar + 1);
  EXPECT_EQ(watch.take(1, 10, NoWords{}, others).modelled.persists[0], 2U);
}

}  // namespace
}  // namespace nvmemu
