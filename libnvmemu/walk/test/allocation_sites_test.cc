// SPDX-License-Identifier: Apache-2.0
#include "walk/allocation_sites.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "base/mapped.h"

namespace nvmemu {
namespace {

constexpr std::uintptr_t kBlock = 0x7f0000010010, kCode = 0x401234;

class AllocationSitesTest : public testing::Test {
 protected:
  AllocationSitesTest() : sites_(map_zeroed<AllocationSites>()) {}
  ~AllocationSitesTest() override { unmap(sites_); }
  AllocationSites* sites_;
};

TEST_F(AllocationSitesTest, ABlockIsItsCallsUntilItIsGivenBack) {
  EXPECT_EQ(sites_->find_site(kCode), nullptr);
  AllocationSites::Site* const site = sites_->add_site(kCode, "build at app+0x1234");
  ASSERT_NE(site, nullptr);
  EXPECT_EQ(sites_->find_site(kCode), site);
  EXPECT_EQ(sites_->add_site(kCode, "another name"), site);
  EXPECT_STREQ(site->name, "build at app+0x1234");
  sites_->take(kBlock, 1000, *site);
  EXPECT_TRUE(sites_->has(kBlock));
  EXPECT_FALSE(sites_->has(kBlock + 8));
  EXPECT_EQ(sites_->find(kBlock), site);
  EXPECT_EQ(sites_->find(kBlock + 999), site);
  EXPECT_EQ(sites_->find(kBlock + 1000), nullptr);
  EXPECT_EQ(sites_->find(kBlock - 1), nullptr);
  sites_->give_back(kBlock + 8);  // none begins there
  EXPECT_TRUE(sites_->has(kBlock));
  sites_->give_back(kBlock);
  EXPECT_EQ(sites_->find(kBlock), nullptr);
  sites_->give_back(kBlock);
  EXPECT_EQ(site->bytes, 0U);
}

TEST_F(AllocationSitesTest, KnowsHowMuchOfASiteThereEverWasAtATime) {
  AllocationSites::Site& site = *sites_->add_site(kCode, "site");
  sites_->take(kBlock, 100, site);
  sites_->take(kBlock - 4096, 50, site);
  sites_->give_back(kBlock);
  sites_->take(kBlock + 4096, 20, site);
  EXPECT_EQ(site.bytes, 70U);
  EXPECT_EQ(site.most_bytes, 150U);
  EXPECT_EQ(site.lowest, kBlock - 4096);
}

TEST_F(AllocationSitesTest, WhatFindsNoRoomIsNobodys) {
  std::size_t sites = 0, blocks = 0;
  for (std::uintptr_t i = 1; i <= 2 * AllocationSites::kMostSites; ++i)
    sites += sites_->add_site(i * 16, std::string(500, 'x')) != nullptr ? 1 : 0;
  EXPECT_GT(sites, AllocationSites::kMostSites / 2);
  EXPECT_LE(sites, AllocationSites::kMostSites);
  AllocationSites::Site* const site = sites_->find_site(16);
  ASSERT_NE(site, nullptr);
  EXPECT_EQ(std::string(site->name), std::string(sizeof site->name - 1, 'x'));
  for (std::uintptr_t i = 1; i <= 2 * AllocationSites::kMostBlocks; ++i) {
    sites_->take(i << 16, 1 << 16, *site);
    blocks += sites_->has(i << 16) ? 1 : 0;
  }
  EXPECT_GT(blocks, AllocationSites::kMostBlocks / 2);
  EXPECT_LE(blocks, AllocationSites::kMostBlocks);
}

TEST_F(AllocationSitesTest, ThreadsTakeAndGiveBackAtOnce) {
  constexpr int kThreads = 4, kRounds = 20'000;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([this, thread] {
      const auto mine = static_cast<std::uintptr_t>(thread + 1);
      for (int i = 0; i < kRounds; ++i) {
        AllocationSites::Site* site = sites_->add_site(kCode + mine % 2, "shared by two");
        if (site == nullptr) continue;  // the other is about to name it
        const std::uintptr_t block = (mine << 40) + (static_cast<std::uintptr_t>(i % 64) << 16);
        sites_->take(block, 1 << 16, *site);
        ASSERT_EQ(sites_->find(block + 5), site);
        sites_->give_back(block);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::uintptr_t code : {kCode, kCode + 1}) EXPECT_EQ(sites_->find_site(code)->bytes, 0U);
}

}  // namespace
}  // namespace nvmemu
