// SPDX-License-Identifier: Apache-2.0
#include "paging/slots.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace nvmemu {
namespace {

class SlotsTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(slots_.open(1000)); }
  void TearDown() override { slots_.close(); }
  Slots slots_;
};

TEST_F(SlotsTest, LieSideBySideWhereThereIsRoom) {
  const std::uint64_t first = slots_.take();
  for (std::uint64_t i = 1; i < 100; ++i) EXPECT_EQ(slots_.take(), first + i);
}

TEST_F(SlotsTest, WhatIsGivenBackIsUsedBeforeTheFileGrowsMuch) {
  for (int i = 0; i < 100; ++i) slots_.take();
  for (std::uint64_t slot = 1; slot <= 90; ++slot) slots_.give_back(slot);
  for (int i = 0; i < 80; ++i) slots_.take();
  EXPECT_LE(slots_.highest(), 200U);
}

TEST_F(SlotsTest, NoneIsGivenTwiceAndAllAreGiven) {
  std::set<std::uint64_t> taken;
  std::minstd_rand random(1);
  for (int step = 0; step < 20'000; ++step) {
    if (random() % 5 < 3 && taken.size() < 1000) {
      const std::uint64_t slot = slots_.take();
      ASSERT_NE(slot, Slots::kNone);
      ASSERT_TRUE(taken.insert(slot).second) << slot;
    } else if (!taken.empty()) {
      const auto some = std::next(taken.begin(), static_cast<long>(random() % taken.size()));
      slots_.give_back(*some);
      taken.erase(some);
    }
    ASSERT_EQ(slots_.used(), taken.size());
  }
  while (taken.size() < 1000) ASSERT_TRUE(taken.insert(slots_.take()).second);
  EXPECT_EQ(slots_.take(), Slots::kNone);
}

}  // namespace
}  // namespace nvmemu
