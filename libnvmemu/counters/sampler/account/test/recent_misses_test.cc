// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/account/recent_misses.h"

#include <gtest/gtest.h>

#include <set>

namespace nvmemu {
namespace {

constexpr std::uintptr_t kNear = std::uintptr_t{2} << 20;
constexpr std::uintptr_t kHere = std::uintptr_t{1} << 40;
constexpr std::uintptr_t kThere = std::uintptr_t{3} << 40;

bool is_near(std::uintptr_t address, std::uintptr_t place) {
  return address + kNear >= place && address < place + kNear;
}

TEST(RecentMisses, GoNowhereBeforeThereWasOne) {
  RecentMisses misses;
  EXPECT_EQ(misses.next(), 0u);
  misses.revisit();
}

TEST(RecentMisses, SpreadAroundWhatWasSeen) {
  RecentMisses misses;
  misses.add(kHere);
  std::set<std::uintptr_t> pages;
  for (int i = 0; i < 10000; ++i) {
    const std::uintptr_t address = misses.next();
    ASSERT_TRUE(is_near(address, kHere)) << std::hex << address;
    pages.insert(address / 4096);
  }
  EXPECT_GT(pages.size(), 900u);  // of 1024
}

TEST(RecentMisses, GoWhereTheProgramWentMostMostOften) {
  RecentMisses misses;
  for (int i = 0; i < 30; ++i) misses.add(kHere);
  for (int i = 0; i < 10; ++i) misses.add(kThere);
  int here = 0;
  constexpr int kVisits = 10000;
  for (int i = 0; i < kVisits; ++i) here += is_near(misses.next(), kHere) ? 1 : 0;
  EXPECT_NEAR(here, 0.75 * kVisits, 0.05 * kVisits);
}

TEST(RecentMisses, ForgetOldPlaces) {
  RecentMisses misses;
  misses.add(kHere);
  for (int i = 0; i < 512; ++i) misses.add(kThere);
  for (int i = 0; i < 10000; ++i) ASSERT_TRUE(is_near(misses.next(), kThere));
}

// Nothing is dereferenced: addresses need not exist.
TEST(RecentMisses, RevisitingWhatIsNotThereDoesNoHarm) {
  RecentMisses misses;
  for (const std::uintptr_t address : {std::uintptr_t{8}, ~std::uintptr_t{0}, std::uintptr_t{1} << 62}) {
    misses.add(address);
    for (int i = 0; i < 1000; ++i) misses.revisit();
  }
}

}  // namespace
}  // namespace nvmemu
