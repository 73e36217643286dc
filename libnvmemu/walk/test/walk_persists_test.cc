// SPDX-License-Identifier: Apache-2.0
#include "walk/walk_persists.h"

#include <gtest/gtest.h>

namespace nvmemu {
namespace {

constexpr unsigned kFar = PersistWatch::kNearSteps + 1;

TEST(PersistWatchTest, AFenceBehindFlushesIsAPersistOfTheirLines) {
  PersistWatch watch;
  watch.on_fence(0);  // behind nothing
  for (std::uintptr_t line = 0; line < 4; ++line) watch.on_flush(1, 64 * line, 0);
  watch.on_fence(2);
  watch.on_fence(3);
  watch.on_flush(4, 0, 0);  // not waited for
  const WalkPersists passed = watch.take(100);
  EXPECT_EQ(passed.persists[0], 1U);
  EXPECT_EQ(passed.lines[0], 4U);
  EXPECT_EQ(passed.ns, 100);
}

TEST(PersistWatchTest, ALineIsOneHoweverManyStoresMakeIt) {
  PersistWatch watch;
  for (std::uintptr_t word = 0; word < 16; ++word) watch.on_flush(0, 8 * word, 0);
  watch.on_fence(1);
  EXPECT_EQ(watch.take(1).lines[0], 2U);
}

TEST(PersistWatchTest, LinesCountInTheirTier) {
  PersistWatch watch;
  watch.on_flush(0, 0, 1);
  watch.on_flush(0, 64, 2);
  watch.on_flush(0, 128, 2);
  watch.on_fence(1);
  const WalkPersists passed = watch.take(1);
  EXPECT_EQ(passed.persists[1], 1U);
  EXPECT_EQ(passed.persists[2], 1U);
  EXPECT_EQ(passed.lines[2], 2U);
  EXPECT_EQ(passed.persists[0], 0U);
}

// As libpmem's are, before.
TEST(PersistWatchTest, WhatIsToldBeforeIsNotCounted) {
  PersistWatch watch;
  for (unsigned round = 0; round < 5; ++round) {
    watch.on_told(20 * round);
    watch.on_flush(20 * round + 5, 0, 0);
    watch.on_fence(20 * round + 6);
  }
  EXPECT_EQ(watch.take(1).persists[0], 0U);
}

// As by nvmemu_persisted(), behind; the last one's end the walk does not reach.
TEST(PersistWatchTest, WhatIsToldBehindIsNotCounted) {
  PersistWatch watch;
  for (unsigned round = 0; round < 5; ++round) {
    watch.on_flush(20 * round, 0, 0);
    watch.on_fence(20 * round + 1);
    if (round < 4) watch.on_told(20 * round + 3);
  }
  EXPECT_EQ(watch.take(1).persists[0], 0U);
}

TEST(PersistWatchTest, WhatIsToldElsewhereIsOfOthers) {
  PersistWatch watch;
  watch.on_flush(0, 0, 0);
  watch.on_fence(1);
  watch.on_told(1 + kFar);
  watch.on_flush(1 + 2 * kFar + 1, 0, 0);
  watch.on_fence(2 + 2 * kFar + 1);
  EXPECT_EQ(watch.take(1).persists[0], 2U);
}

}  // namespace
}  // namespace nvmemu
