// SPDX-License-Identifier: Apache-2.0
#include "paging/address_ranges.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace nvmemu {
namespace {

class AddressRangesTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(ranges_.open()); }
  void TearDown() override { ranges_.close(); }
  std::vector<AddressRange> all() const {
    std::vector<AddressRange> found;
    ranges_.for_each({0, 1 << 20}, [&found](AddressRange range) { found.push_back(range); });
    return found;
  }
  AddressRanges ranges_;
};

TEST_F(AddressRangesTest, OnesThatTouchBecomeOne) {
  ranges_.add({100, 200});
  ranges_.add({300, 400});
  EXPECT_EQ(all().size(), 2U);
  ranges_.add({200, 300});
  EXPECT_EQ(all(), (std::vector<AddressRange>{{100, 400}}));
  EXPECT_EQ(ranges_.bytes(), 300U);
}

TEST_F(AddressRangesTest, WhatIsTakenOutOfTheMiddleLeavesTwo) {
  ranges_.add({100, 400});
  ranges_.remove({200, 300});
  EXPECT_EQ(all(), (std::vector<AddressRange>{{100, 200}, {300, 400}}));
  EXPECT_TRUE(ranges_.contains(199));
  EXPECT_FALSE(ranges_.contains(200));
  EXPECT_EQ(ranges_.at(350), (AddressRange{300, 400}));
}

TEST_F(AddressRangesTest, OnlyThePartsWithinAreVisited) {
  ranges_.add({100, 200});
  ranges_.add({300, 400});
  std::vector<AddressRange> found;
  ranges_.for_each({150, 310}, [&found](AddressRange range) { found.push_back(range); });
  EXPECT_EQ(found, (std::vector<AddressRange>{{150, 200}, {300, 310}}));
}

TEST_F(AddressRangesTest, AreWhatASetOfAddressesWouldBe) {
  constexpr std::size_t kAddresses = 512;
  std::vector<bool> expected(kAddresses);
  std::minstd_rand random(1);
  for (int step = 0; step < 5000; ++step) {
    const std::uintptr_t begin = random() % kAddresses, end = begin + random() % (kAddresses - begin);
    const bool adds = random() % 2 == 0;
    ASSERT_TRUE(adds ? ranges_.add({begin, end}) : ranges_.remove({begin, end}));
    for (std::uintptr_t address = begin; address < end; ++address) expected[address] = adds;
    for (std::uintptr_t address = 0; address < kAddresses; ++address)
      ASSERT_EQ(ranges_.contains(address), expected[address]) << step << ": " << address;
  }
}

}  // namespace
}  // namespace nvmemu
