// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/learned/load_table.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <memory>
#include <set>
#include <thread>
#include <vector>

namespace nvmemu {
namespace {

// A page of one-byte nops with loads at every 64 bytes.
class LoadTableTest : public testing::Test {
 protected:
  static constexpr std::size_t kBytes = 65536;
  void SetUp() override {
    code_ = static_cast<std::uint8_t*>(
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(code_, MAP_FAILED);
    std::fill_n(code_, kBytes, std::uint8_t{0x90});
    for (std::size_t at = 64; at < kBytes; at += 64) put(at, {0x48, 0x8b, 0x00});
  }
  void TearDown() override { munmap(code_, kBytes); }
  void put(std::size_t at, std::initializer_list<std::uint8_t> bytes) {
    std::copy(bytes.begin(), bytes.end(), code_ + at);
  }
  std::uintptr_t after_load(std::size_t i) const {
    return reinterpret_cast<std::uintptr_t>(code_) + 64 * (i + 1) + 3;
  }

  std::uint8_t* code_ = nullptr;
  std::unique_ptr<LoadTable> table_ = std::make_unique<LoadTable>();
};

TEST_F(LoadTableTest, DescribesTheInstructionBefore) {
  const LoadEntry* entry = table_->find(after_load(0));
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->address, after_load(0) - 3);
  EXPECT_EQ(entry->instruction.kind, StallKind::kLoad);
  EXPECT_TRUE(entry->instruction.probeable);
}

TEST_F(LoadTableTest, ReturnsTheSameEntryAgainWithItsSums) {
  LoadEntry* entry = table_->find(after_load(1));
  entry->add({.readings = 16, .from_memory = 8, .memory_ns = 1600, .total_ns = 1700});
  EXPECT_EQ(table_->find(after_load(1)), entry);
  EXPECT_DOUBLE_EQ(entry->sums().readings, 16);
  EXPECT_DOUBLE_EQ(entry->sums().memory_ns, 1600);
}

TEST_F(LoadTableTest, TellsWhatItHasJustDecoded) {
  const auto decodes = [this] {
    bool decoded = false;
    table_->find(after_load(1), decoded);
    return decoded;
  };
  EXPECT_TRUE(decodes());
  EXPECT_FALSE(decodes());
  put(128, {0x48, 0x8b, 0x08});  // other code in its place
  EXPECT_TRUE(decodes());
}

TEST_F(LoadTableTest, ForgetsWhatALoadDidLongAgo) {
  LoadEntry* entry = table_->find(after_load(1));
  for (int i = 0; i < 20; ++i)
    entry->add({.readings = 16, .from_memory = 16, .memory_ns = 3200, .total_ns = 3200});
  for (int i = 0; i < 30; ++i) entry->add({.readings = 16, .from_memory = 0, .memory_ns = 0, .total_ns = 32});
  EXPECT_LT(entry->sums().memory_ns, 0.2 * entry->sums().total_ns);
  EXPECT_NEAR(entry->sums().readings, 80, 1);
}

TEST_F(LoadTableTest, RemembersAsManyReadingsHoweverManyABurstHas) {
  LoadEntry* entry = table_->find(after_load(1));
  for (int i = 0; i < 200; ++i)
    entry->add({.readings = 6, .from_memory = 3, .memory_ns = 600, .total_ns = 620, .lost = 1});
  EXPECT_NEAR(entry->sums().readings, 80, 1);
  EXPECT_NEAR(entry->sums().lost, 80.0 / 6, 0.2);
  for (int i = 0; i < 2000; ++i)
    entry->add_natural({.readings = 6, .from_memory = 3, .memory_ns = 600, .total_ns = 620});
  EXPECT_NEAR(entry->natural_readings, 800, 10);
}

TEST_F(LoadTableTest, KnowsWhatALoadsMissesUsuallyTake) {
  LoadEntry* entry = table_->find(after_load(1));
  EXPECT_LT(entry->usual(200).share, 0);
  EXPECT_DOUBLE_EQ(entry->usual(200).miss_ns, 200);
  entry->add_natural({.readings = 16, .from_memory = 8, .memory_ns = 8 * 300, .total_ns = 3000});
  EXPECT_DOUBLE_EQ(entry->usual(200).share, 0.5);
  EXPECT_DOUBLE_EQ(entry->usual(200).miss_ns, 250);  // 8 readings of it, against 8 that the mean counts for
  for (int i = 0; i < 300; ++i)
    entry->add_natural({.readings = 16, .from_memory = 16, .memory_ns = 16 * 400, .total_ns = 16 * 400});
  EXPECT_NEAR(entry->usual(200).miss_ns, 400, 10);  // 800 readings weigh
}

TEST_F(LoadTableTest, TakesWhatStepsSayOfMissesUnlessReadingsContradict) {
  LoadEntry* entry = table_->find(after_load(1));
  EXPECT_DOUBLE_EQ(entry->miss(200).ns, 200);
  EXPECT_FALSE(entry->miss(200).is_base);
  for (int i = 0; i < 32; ++i) entry->steps.add(230, true);
  EXPECT_DOUBLE_EQ(entry->miss(200).ns, 230);
  EXPECT_TRUE(entry->miss(200).is_base);
  EXPECT_DOUBLE_EQ(entry->miss(100).ns, 100);
  EXPECT_FALSE(entry->miss(100).is_base);
  entry->steps.add(230, false);
  EXPECT_DOUBLE_EQ(entry->miss(200).ns, 230);
  EXPECT_FALSE(entry->miss(200).is_base) << "some are in small pages";
}

TEST_F(LoadTableTest, ForgetsWhatLongBurstsToldAtTheFirstShortOne) {
  LoadEntry* entry = table_->find(after_load(3));
  entry->add({.readings = 6, .from_memory = 1}, true);
  entry->add({.readings = 6, .from_memory = 1}, true);
  EXPECT_GT(entry->sums().readings, 11);
  entry->add({.readings = 6, .from_memory = 5}, false);
  EXPECT_EQ(entry->sums().readings, 6);
  EXPECT_EQ(entry->sums().from_memory, 5);
  entry->add({.readings = 6, .from_memory = 5}, false);
  EXPECT_GT(entry->sums().readings, 11);
}

TEST_F(LoadTableTest, StartsAfreshWhereTheCodeWasReplaced) {
  LoadEntry* entry = table_->find(after_load(2));
  entry->add({.readings = 16, .from_memory = 16, .memory_ns = 1600, .total_ns = 1600});
  put(64 * 3, {0x48, 0x89, 0x00});  // mov %rax,(%rax)
  entry = table_->find(after_load(2));
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->instruction.kind, StallKind::kStore);
  EXPECT_DOUBLE_EQ(entry->sums().readings, 0);
}

TEST_F(LoadTableTest, AFullNeighbourhoodGivesNothingRatherThanAWrongEntry) {
  std::size_t found = 0;
  for (std::uintptr_t ip = after_load(0); ip < after_load(0) + 40000; ++ip) {
    const LoadEntry* entry = table_->find(ip);
    if (entry == nullptr) continue;
    ++found;
    EXPECT_TRUE(entry->address == 0 || entry->address + entry->instruction.length == ip);
  }
  EXPECT_GT(found, 1000u);
  EXPECT_LE(found, 4096u);
}

TEST_F(LoadTableTest, ThreadsAgreeOnEntries) {
  constexpr std::size_t kLoads = 200;
  std::vector<std::vector<LoadEntry*>> seen(4, std::vector<LoadEntry*>(kLoads));
  std::vector<std::thread> threads;
  for (auto& mine : seen) {
    threads.emplace_back([&] {
      for (std::size_t i = 0; i < kLoads; ++i) {
        // Null while another thread writes the slot, which ends.
        while ((mine[i] = table_->find(after_load(i))) == nullptr) std::this_thread::yield();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (std::size_t i = 0; i < kLoads; ++i) {
    std::set<LoadEntry*> distinct;
    for (const auto& mine : seen) distinct.insert(mine[i]);
    EXPECT_EQ(distinct.size(), 1u) << i;
  }
}

}  // namespace
}  // namespace nvmemu
