// SPDX-License-Identifier: Apache-2.0
#include "tier/tier_map.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>
#include <tuple>
#include <vector>

namespace nvmemu {
namespace {

constexpr std::uintptr_t kPage = 4096, kBlock = 2 << 20, kBase = 0x7f0000000000;

class TierMapTest : public testing::Test {
 protected:
  ~TierMapTest() override { TierMap::destroy(map_); }
  void open(const TierPattern& otherwise = {}) { map_ = TierMap::create(otherwise); }

  TierMap* map_ = nullptr;
};

TEST_F(TierMapTest, WhatNobodyHasPlacedIsTheMachines) {
  open();
  for (const std::uintptr_t address : {std::uintptr_t{0}, kBase, ~std::uintptr_t{0}})
    EXPECT_EQ(map_->tier_of(address), 0);
}

TEST_F(TierMapTest, IsCopiedAndGoesOnAlone) {
  TierPattern mixed;
  mixed.parts = {{{.tier = 0, .pages = 3}, {.tier = 2, .pages = 1}}};
  mixed.count = 2;
  open(TierPattern::all_of(1));
  ASSERT_TRUE(map_->place(kBase + kPage, 3 * kBlock, 2));
  ASSERT_TRUE(map_->place(kBase - 7 * kBlock, kBlock, 3));
  ASSERT_TRUE(map_->place(0x1000, kPage, *map_->class_of(mixed)));
  TierMap* const copy = TierMap::create({});
  ASSERT_NE(copy, nullptr);
  copy->copy_all(*map_);
  ASSERT_TRUE(map_->place(kBase + 2 * kBlock, kBlock, 3));
  ASSERT_TRUE(copy->place(kBase + 9 * kPage, kPage, 4));
  for (std::uintptr_t address = kBase - 8 * kBlock; address < kBase + 5 * kBlock; address += kPage) {
    const bool is_placed_since = address / kBlock == kBase / kBlock + 2;
    if (address == kBase + 9 * kPage) {
      EXPECT_EQ(copy->tier_of(address), 4);
      EXPECT_EQ(map_->tier_of(address), 2);
    } else if (!is_placed_since) {
      ASSERT_EQ(copy->tier_of(address), map_->tier_of(address));
    } else {
      ASSERT_EQ(copy->tier_of(address), 2);
    }
  }
  EXPECT_EQ(copy->pattern_of(*copy->placed_in(0x1000)), mixed);
  EXPECT_EQ(copy->tier_of(0x900000), 1) << "of what nobody has placed";
  TierMap::destroy(copy);
}

TEST_F(TierMapTest, PlacesPagesAndBlocks) {
  open();
  ASSERT_TRUE(map_->place(kBase + kPage, 3 * kBlock, 2));
  EXPECT_EQ(map_->tier_of(kBase), 0);
  EXPECT_EQ(map_->tier_of(kBase + kPage), 2);
  EXPECT_EQ(map_->tier_of(kBase + kBlock + 17), 2);
  EXPECT_EQ(map_->tier_of(kBase + 3 * kBlock + kPage - 1), 2);
  EXPECT_EQ(map_->tier_of(kBase + 3 * kBlock + kPage), 0);
}

TEST_F(TierMapTest, GoesThroughARangeByWhatIsNotedAlike) {
  open(TierPattern::all_of(1));
  ASSERT_TRUE(map_->place(kBase + kPage, 3 * kBlock, 2));
  ASSERT_TRUE(map_->place(kBase + kBlock, kBlock, 2));  // as it is
  using Stretch = std::tuple<std::uintptr_t, std::uintptr_t, TierClass>;
  const auto stretches = [this](std::uintptr_t begin, std::uintptr_t end) {
    std::vector<Stretch> found;
    map_->for_each_stretch(
        begin, end, [&](auto first, auto last, TierClass tiers) { found.emplace_back(first, last, tiers); });
    return found;
  };
  const std::uintptr_t placed = kBase + kPage, behind = placed + 3 * kBlock;
  EXPECT_EQ(stretches(kBase - 9 * kBlock, kBase + 5 * kBlock),
            (std::vector<Stretch>{
                {kBase - 9 * kBlock, placed, 1}, {placed, behind, 2}, {behind, kBase + 5 * kBlock, 1}}));
  EXPECT_EQ(stretches(placed + kPage, placed + 2 * kPage),
            (std::vector<Stretch>{{placed + kPage, placed + 2 * kPage, 2}}));
  EXPECT_TRUE(stretches(kBase, kBase).empty());
  constexpr std::uintptr_t kTop = std::uintptr_t{1} << 47;  // where the map ends
  EXPECT_EQ(stretches(kTop - kPage, kTop + kBlock), (std::vector<Stretch>{{kTop - kPage, kTop + kBlock, 1}}));
}

TEST_F(TierMapTest, APageThatIsCoveredInPartIsTheRanges) {
  open();
  ASSERT_TRUE(map_->place(kBase + kPage - 1, 2, 1));
  EXPECT_EQ(map_->tier_of(kBase), 1);
  EXPECT_EQ(map_->tier_of(kBase + kPage), 1);
  EXPECT_EQ(map_->tier_of(kBase + 2 * kPage), 0);
}

TEST_F(TierMapTest, ForgetsWhatIsRemoved) {
  open();
  ASSERT_TRUE(map_->place(kBase, 2 * kBlock, 3));
  map_->remove(kBase + kPage, kPage);
  EXPECT_EQ(map_->tier_of(kBase), 3);
  EXPECT_EQ(map_->placed_in(kBase), 3);
  EXPECT_FALSE(map_->placed_in(kBase + kPage));
  EXPECT_EQ(map_->tier_of(kBase + kPage), 0);
  EXPECT_EQ(map_->tier_of(kBase + 2 * kPage), 3);
  map_->remove(kBase, 2 * kBlock);
  EXPECT_EQ(map_->tier_of(kBase), 0);
  EXPECT_EQ(map_->tier_of(kBase + kBlock), 0);
}

TEST_F(TierMapTest, TheRestMayBeATiersToo) {
  open(TierPattern::all_of(4));
  EXPECT_EQ(map_->tier_of(kBase), 4);
  ASSERT_TRUE(map_->place(kBase, kPage, 0));  // and this is the machine's
  EXPECT_EQ(map_->tier_of(kBase), 0);
}

TEST_F(TierMapTest, InterleavesByPages) {
  open({.parts = {{{.tier = 0, .pages = 3}, {.tier = 1, .pages = 2}}}, .count = 2, .page_bytes = kBlock});
  std::vector<TierId> found;
  for (std::uintptr_t page = 0; page < 10; ++page) found.push_back(map_->tier_of(page * kBlock + 5000));
  EXPECT_EQ(found, (std::vector<TierId>{0, 0, 0, 1, 1, 0, 0, 0, 1, 1}));
}

TEST_F(TierMapTest, ARangeMayBeOfSeveralTiersInTurn) {
  open();
  const TierPattern pattern{.parts = {{{.tier = 2, .pages = 1}, {.tier = 0, .pages = 2}}}, .count = 2};
  const auto tiers = map_->class_of(pattern);
  ASSERT_TRUE(tiers);
  EXPECT_EQ(map_->class_of(pattern), tiers);
  EXPECT_EQ(map_->class_of(TierPattern::all_of(3)), 3);
  ASSERT_TRUE(map_->place(kBase, kBlock, *tiers));
  for (std::uintptr_t page = 0; page < kBlock / kPage; ++page)
    ASSERT_EQ(map_->tier_of(kBase + page * kPage), pattern.of(kBase + page * kPage));
  EXPECT_EQ(map_->tier_of(kBase + kBlock), 0);
}

TEST_F(TierMapTest, TellsWhichPartOfARangeIsWhose) {
  open();
  const TierPattern pattern{.parts = {{{.tier = 2, .pages = 1}, {.tier = 0, .pages = 3}}}, .count = 2};
  ASSERT_TRUE(map_->place(kBase, kBlock, *map_->class_of(pattern)));
  ASSERT_TRUE(map_->place(kBase + kBlock, kBlock, 3));
  EXPECT_EQ(map_->shares_of(kBase, kBase + 10 * kPage)[2], 0.25);
  EXPECT_EQ(map_->shares_of(kBase, kBase + 10 * kPage)[0], 0.75);
  EXPECT_EQ(map_->shares_of(kBase, kBase + kPage)[map_->tier_of(kBase)], 1)
      << "less than the pattern: as the middle";
  EXPECT_EQ(map_->shares_of(kBase + kBlock, kBase + 2 * kBlock)[3], 1);
  EXPECT_EQ(map_->shares_of(kBase + 3 * kBlock, kBase + 4 * kBlock)[0], 1);
}

TEST_F(TierMapTest, TellsWhatAskedForARange) {
  open();
  TierPattern asked = TierPattern::all_of(3);
  asked.origin = 7;
  const auto tiers = map_->class_of(asked);
  ASSERT_TRUE(tiers && map_->place(kBase, kPage, *tiers));
  EXPECT_EQ(map_->tier_of(kBase), 3);
  EXPECT_EQ(map_->origin_of(kBase), 7);
  EXPECT_EQ(map_->origin_of(kBase + kPage), 0);
  ASSERT_TRUE(map_->place(kBase, kPage, 3));
  EXPECT_EQ(map_->origin_of(kBase), 0);
}

TEST_F(TierMapTest, WhatNobodyPlacesMayBecomeATiers) {
  open();
  ASSERT_TRUE(map_->place(kBase + kPage, kPage, 2));
  ASSERT_TRUE(map_->place(kBase + 2 * kBlock, kBlock, 3));
  ASSERT_TRUE(map_->place_rest(kBase, 3 * kBlock, 0));
  map_->set_otherwise(1);
  EXPECT_EQ(map_->tier_of(kBase), 0);
  EXPECT_EQ(map_->tier_of(kBase + kPage), 2);
  EXPECT_EQ(map_->tier_of(kBase + kBlock), 0);
  EXPECT_EQ(map_->tier_of(kBase + 2 * kBlock + kPage), 3);
  EXPECT_EQ(map_->tier_of(kBase + 3 * kBlock), 1);
  map_->remove(kBase, kPage);
  EXPECT_EQ(map_->tier_of(kBase), 1);
}

TEST_F(TierMapTest, MovesWhatIsOfATierAndNothingElse) {
  open();
  map_->place(kBase, 2 * kBlock, 1);
  map_->place(kBase + kPage, kPage, 3);
  EXPECT_TRUE(map_->move(kBase, 3 * kBlock, 1, 2));
  EXPECT_EQ(map_->tier_of(kBase), 2);
  EXPECT_EQ(map_->tier_of(kBase + kPage), 3);
  EXPECT_EQ(map_->tier_of(kBase + kBlock), 2);
  EXPECT_EQ(map_->placed_in(kBase + 2 * kBlock), std::nullopt);
  EXPECT_TRUE(map_->move(kBase + 2 * kBlock, kBlock, 0, 4));  // of what nobody has placed, too
  EXPECT_EQ(map_->tier_of(kBase + 2 * kBlock), 4);
}

TEST_F(TierMapTest, CopiesWhatIsNotedAndWhatIsNot) {
  open(TierPattern::all_of(3));
  ASSERT_TRUE(map_->place(kBase, kBlock, 1));
  ASSERT_TRUE(map_->place(kBase + kBlock + kPage, kPage, 2));
  const std::uintptr_t to = kBase + 8 * kBlock + 5 * kPage;
  ASSERT_TRUE(map_->place(to - kPage, 4 * kBlock, 1));
  map_->copy(kBase, to, kBlock + 3 * kPage);
  EXPECT_EQ(map_->tier_of(to), 1);
  EXPECT_EQ(map_->tier_of(to + kBlock - 1), 1);
  EXPECT_EQ(map_->placed_in(to + kBlock), std::nullopt);
  EXPECT_EQ(map_->tier_of(to + kBlock + kPage), 2);
  EXPECT_EQ(map_->tier_of(to + kBlock + 2 * kPage), 3);
  EXPECT_EQ(map_->tier_of(to + kBlock + 3 * kPage), 1) << "beyond it";
  EXPECT_EQ(map_->tier_of(kBase + kBlock + kPage), 2) << "as it was";
}

TEST_F(TierMapTest, SaysWhenThereAreTooManyPatterns) {
  open();
  std::uint32_t pages = 1;
  TierPattern pattern{.parts = {{{.tier = 0, .pages = 1}, {.tier = 1, .pages = 1}}}, .count = 2};
  while (pages < 1000 && map_->class_of(pattern)) pattern.parts[1].pages = ++pages;
  EXPECT_EQ(pages, 65U);
  pattern.parts[1].pages = 3;
  EXPECT_TRUE(map_->class_of(pattern));  // which is known
}

TEST_F(TierMapTest, RangesBeyondTheAddressSpaceAreCut) {
  open();
  constexpr std::uintptr_t kEnd = std::uintptr_t{1} << 47;
  EXPECT_TRUE(map_->place(kEnd - kPage, ~std::size_t{0}, 1));
  EXPECT_EQ(map_->tier_of(kEnd - 1), 1);
  EXPECT_EQ(map_->tier_of(kEnd), 0);
  EXPECT_TRUE(map_->place(kEnd, kPage, 1));
  EXPECT_TRUE(map_->place(kBase, 0, 1));
  EXPECT_EQ(map_->tier_of(kBase), 0);
}

TEST_F(TierMapTest, SaysWhenThereIsNoRoom) {
  open();
  bool noted = true;
  std::uintptr_t block = 0;
  for (; noted && block < 100'000; ++block) noted = map_->place(block * kBlock, kPage, 1);
  EXPECT_FALSE(noted);
  EXPECT_EQ(map_->tier_of((block - 1) * kBlock), 0);
  EXPECT_TRUE(map_->place((block + 1) * kBlock, kBlock, 2));  // whole blocks need none
  EXPECT_EQ(map_->tier_of((block + 1) * kBlock), 2);
}

TEST_F(TierMapTest, AgreesWithAPlainListOfPages) {
  open();
  constexpr std::size_t kPagesInAll = 4 * kBlock / kPage;
  std::vector<TierId> truth(kPagesInAll, 0);
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    const std::size_t first = random() % kPagesInAll;
    const std::size_t count = random() % (kPagesInAll - first) + 1;
    const auto tier = static_cast<TierId>(random() % kMostTiers);
    if (tier == 0) {
      map_->remove(kBase + first * kPage, count * kPage);
    } else {
      ASSERT_TRUE(map_->place(kBase + first * kPage, count * kPage, tier));
    }
    std::fill_n(truth.begin() + static_cast<std::ptrdiff_t>(first), count, tier);
    const std::size_t looked_at = random() % kPagesInAll;
    ASSERT_EQ(map_->tier_of(kBase + looked_at * kPage), truth[looked_at]);
  }
  for (std::size_t page = 0; page < kPagesInAll; ++page)
    ASSERT_EQ(map_->tier_of(kBase + page * kPage), truth[page]) << page;
}

TEST_F(TierMapTest, ManyMayPlaceInOneBlockAtOnce) {
  open();
  constexpr std::size_t kThreads = 8;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([this, i] {
      for (std::uintptr_t page = i; page < kBlock / kPage; page += kThreads)
        map_->place(kBase + page * kPage, kPage, static_cast<TierId>(i));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::uintptr_t page = 0; page < kBlock / kPage; ++page)
    ASSERT_EQ(map_->tier_of(kBase + page * kPage), page % kThreads);
}

}  // namespace
}  // namespace nvmemu
