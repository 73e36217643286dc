// SPDX-License-Identifier: Apache-2.0
#include "walk/allocation_sites.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
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

// Side by side, of all sizes, each its site's to its last byte; and what found no room nobody's.
TEST_F(AllocationSitesTest, WithAllEntriesInUseEachBlockIsItsCalls) {
  struct Taken {
    std::uintptr_t begin;
    std::size_t bytes;
    AllocationSites::Site* site;
  };
  std::vector<AllocationSites::Site*> sites;
  for (std::uintptr_t i = 0; i < 64; ++i) sites.push_back(sites_->add_site(kCode + 64 * i, "site"));
  std::vector<Taken> taken;
  std::size_t held = 0;
  std::uintptr_t at = kBlock;
  std::mt19937_64 random(1);
  for (std::size_t i = 0; i < 4 * AllocationSites::kMostBlocks; ++i) {
    const std::size_t bytes = (std::size_t{1} << (16 + random() % 12)) + random() % 70'000;
    taken.push_back({at, bytes, sites[random() % sites.size()]});
    sites_->take(at, bytes, *taken.back().site);
    at += bytes;
    held += sites_->has(taken.back().begin) ? 1 : 0;
  }
  EXPECT_GT(held, AllocationSites::kMostBlocks * 99 / 100);
  for (const Taken& block : taken) {
    AllocationSites::Site* const site = sites_->has(block.begin) ? block.site : nullptr;
    for (const std::uintptr_t in :
         {block.begin, block.begin + block.bytes / 2, block.begin + block.bytes - 1})
      ASSERT_EQ(sites_->find(in), site) << std::hex << in;
  }
  EXPECT_EQ(sites_->find(kBlock - 1), nullptr);
  EXPECT_EQ(sites_->find(at), nullptr);
  for (const Taken& block : taken) sites_->give_back(block.begin);
  for (const Taken& block : taken) ASSERT_EQ(sites_->find(block.begin), nullptr);
  for (const AllocationSites::Site* site : sites) EXPECT_EQ(site->bytes, 0U);
}

TEST_F(AllocationSitesTest, WhereBlocksOverlapItIsTheSmallerOnes) {
  AllocationSites::Site& large = *sites_->add_site(kCode, "large");
  AllocationSites::Site& small = *sites_->add_site(kCode + 64, "small");
  sites_->take(kBlock, 1 << 20, large);
  sites_->take(kBlock + (1 << 18), 1 << 17, small);
  sites_->take(kBlock + (1 << 20) - 100, 1 << 17, small);
  EXPECT_EQ(sites_->find(kBlock + (1 << 18) - 1), &large);
  EXPECT_EQ(sites_->find(kBlock + (1 << 18)), &small);
  EXPECT_EQ(sites_->find(kBlock + (1 << 18) + (1 << 17)), &large);
  EXPECT_EQ(sites_->find(kBlock + (1 << 20) - 100), &small);
  EXPECT_EQ(sites_->find(kBlock + (1 << 20)), &small);
  sites_->give_back(kBlock + (1 << 18));
  EXPECT_EQ(sites_->find(kBlock + (1 << 18)), &large);
  sites_->give_back(kBlock);
  EXPECT_EQ(sites_->find(kBlock + (1 << 18)), nullptr);
  EXPECT_EQ(sites_->find(kBlock + (1 << 20) - 100), &small);
}

// Taken, given back and taken again, larger or smaller, at the ends of what there can be, too.
TEST_F(AllocationSitesTest, AnswersAsAMapOfTheBlocksWould) {
  constexpr std::size_t kSlots = 2000, kSlotBytes = std::size_t{1} << 21;
  AllocationSites::Site& site = *sites_->add_site(kCode, "site");
  std::map<std::uintptr_t, std::size_t> blocks;
  std::mt19937_64 random(2);
  for (int step = 0; step < 50'000; ++step) {
    const std::uintptr_t begin = kBlock + kSlotBytes * (random() % kSlots);
    sites_->give_back(begin);
    blocks.erase(begin);
    const std::size_t bytes = step % 10 == 0 ? step % 3 : 1 + random() % kSlotBytes;
    if (random() % 3 != 0) sites_->take(begin, bytes, site);
    if (sites_->has(begin)) blocks[begin] = bytes;
    const std::uintptr_t address = kBlock + random() % (kSlots * kSlotBytes);
    const auto after = blocks.upper_bound(address);
    const bool is_in =
        after != blocks.begin() && address - std::prev(after)->first < std::prev(after)->second;
    ASSERT_EQ(sites_->find(address), is_in ? &site : nullptr) << "step " << step;
  }
  EXPECT_GT(blocks.size(), kSlots / 2);
  for (const std::uintptr_t end : {std::uintptr_t{0}, ~std::uintptr_t{0}})
    EXPECT_EQ(sites_->find(end), nullptr);
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
