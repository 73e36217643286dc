// SPDX-License-Identifier: Apache-2.0
#include "paging/page_layout.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

#include "paging/page_layouts.h"

namespace nvmemu {
namespace {

// A layout and the slots that it chooses from, as the pager has them.
struct Layout {
  explicit Layout(LayoutKind kind, std::uint64_t most = 1000) : layout(layouts[kind]) {
    EXPECT_TRUE(slots.open(most) && layout.open(most));
  }
  ~Layout() {
    layout.close();
    slots.close();
  }
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;

  std::uint64_t take(std::uint64_t page) {
    const std::uint64_t slot = layout.choose(page, slots);
    EXPECT_EQ(layout.choose(page, slots), slot) << "asked again";
    if (slot == Slots::kNone) return slot;
    EXPECT_FALSE(slots.is_used(slot));
    EXPECT_TRUE(slot >= 1 && slot < slots.end()) << slot;
    slots.take(slot, page);
    layout.taken(slot);
    return slot;
  }
  void give_back(std::uint64_t slot) {
    if (slots.give_back(slot)) layout.given_back(slot);
  }

  PageLayouts layouts;
  PageLayout& layout;
  Slots slots;
};

class PageLayoutTest : public ::testing::TestWithParam<LayoutKind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, PageLayoutTest,
                         ::testing::Values(LayoutKind::kLog, LayoutKind::kInPlace, LayoutKind::kScattered));

TEST_P(PageLayoutTest, NoneIsGivenTwiceAndAllAreGiven) {
  Layout layout(GetParam());
  std::map<std::uint64_t, std::uint64_t> taken;  // by page
  std::minstd_rand random(1);
  for (int step = 0; step < 20'000; ++step) {
    const std::uint64_t page = random() % 2000;
    if (const auto found = taken.find(page); found != taken.end()) {
      layout.give_back(found->second);
      taken.erase(found);
    } else if (taken.size() < 1000) {
      const std::uint64_t slot = layout.take(page);
      ASSERT_NE(slot, Slots::kNone);
      ASSERT_EQ(layout.slots.owner(slot), page);
      taken[page] = slot;
    }
    ASSERT_EQ(layout.slots.used(), taken.size());
  }
  for (std::uint64_t page = 2000; taken.size() < 1000; ++page) {
    const std::uint64_t slot = layout.take(page);
    ASSERT_NE(slot, Slots::kNone);
    taken[page] = slot;
  }
  EXPECT_EQ(layout.take(5000), Slots::kNone);
}

TEST_P(PageLayoutTest, WhatIsGivenBackIsUsedBeforeTheFileGrowsMuch) {
  constexpr std::uint64_t kMany = 100'000;
  Layout layout(GetParam(), kMany);
  std::vector<std::uint64_t> slots;
  std::set<std::uint64_t> used;
  for (std::uint64_t page = 0; page < 10'000; ++page) slots.push_back(layout.take(page));
  for (int round = 0; round < 10; ++round) {
    for (std::uint64_t page = 0; page < 10'000; ++page) {
      layout.give_back(slots[page]);
      used.insert(slots[page] = layout.take(page));
    }
  }
  EXPECT_LE(used.size(), 25'000U);
}

constexpr std::uint64_t kSegment = 2048;  // slots, where there are many

TEST(LogLayout, WritesWhateverItIsInSequence) {
  Layout layout(LayoutKind::kLog, 10'000);
  std::minstd_rand random(1);
  const std::uint64_t first = layout.take(random());
  for (std::uint64_t i = 1; i < 5000; ++i) EXPECT_EQ(layout.take(random()), first + i);
}

TEST(LogLayout, CleansTheEmptiestWhenHalfOfItIsFree) {
  Layout layout(LayoutKind::kLog, 100'000);
  std::vector<std::uint64_t> slots;
  while (slots.size() < 20'000) slots.push_back(layout.take(slots.size()));
  EXPECT_TRUE(layout.layout.to_clean(layout.slots).empty());
  for (std::uint64_t page = 0; page < slots.size(); ++page) {
    const bool is_emptiest = slots[page] / kSegment == 3;
    if (page % 8 < (is_emptiest ? 7 : 5)) layout.give_back(slots[page]);
  }
  SlotRange segment;
  while (segment.empty()) {
    segment = layout.layout.to_clean(layout.slots);
    if (segment.empty()) layout.take(0);
  }
  EXPECT_EQ(segment.begin, 3 * kSegment);
  EXPECT_EQ(segment.end, 4 * kSegment);
}

TEST(LogLayout, WhereTheStoreHasNoRoomForMoreItUsesWhatItHas) {
  Layout layout(LayoutKind::kLog, 100'000);
  std::vector<std::uint64_t> slots;
  while (slots.empty() || slots.back() < 8 * kSegment - 1) slots.push_back(layout.take(slots.size()));
  layout.give_back(slots[10]);
  const std::uint64_t beyond = layout.take(0);
  EXPECT_EQ(beyond, 8 * kSegment);
  layout.give_back(beyond);
  EXPECT_TRUE(layout.layout.refused(beyond));
  EXPECT_EQ(layout.take(0), slots[10]);
  layout.give_back(slots[10]);
  EXPECT_FALSE(layout.layout.refused(slots[10]));
}

TEST(InPlaceLayout, APageKeepsItsSlot) {
  Layout layout(LayoutKind::kInPlace);
  const std::uint64_t slot = layout.take(77), next = layout.take(78);
  EXPECT_EQ(next, slot + 1);
  layout.give_back(slot);
  layout.give_back(next);
  layout.take(1000);
  EXPECT_EQ(layout.take(78), next);
  EXPECT_EQ(layout.take(77), slot);
}

TEST(InPlaceLayout, APageKeepsItsSlotWhereItIsMoved) {
  Layout layout(LayoutKind::kInPlace);
  const std::uint64_t slot = layout.take(77);
  layout.layout.moved(77, 500);
  EXPECT_NE(layout.take(77), slot);
  layout.give_back(slot);
  EXPECT_EQ(layout.take(500), slot);
}

TEST(ScatteredLayout, IsAPermutationOfWhateverThereIs) {
  for (const std::uint64_t most : {1, 2, 3, 100, 1000, 65'536, 70'000, 150'000}) {
    ScatteredLayout layout;
    layout.open(most);
    std::vector<bool> seen(most + 1);
    for (std::uint64_t turn = 0; turn < most; ++turn) {
      const std::uint64_t slot = layout.slot_at(turn);
      ASSERT_TRUE(slot >= 1 && slot <= most) << slot;
      ASSERT_FALSE(seen[slot]) << slot;
      seen[slot] = true;
    }
  }
}

TEST(ScatteredLayout, NeighboursLieFarApart) {
  Layout layout(LayoutKind::kScattered, 65'536);
  std::uint64_t last = layout.take(0);
  int near = 0;
  for (std::uint64_t page = 1; page < 10'000; ++page) {
    const std::uint64_t slot = layout.take(page);
    near += (slot > last ? slot - last : last - slot) < 64 ? 1 : 0;
    last = slot;
  }
  EXPECT_LT(near, 100);
}

}  // namespace
}  // namespace nvmemu
