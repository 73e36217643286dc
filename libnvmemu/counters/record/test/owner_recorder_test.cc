// SPDX-License-Identifier: Apache-2.0
#include "counters/record/owner_recorder.h"

#include <gtest/gtest.h>

#include "record_files.h"

namespace nvmemu {
namespace {

constexpr std::uintptr_t kBlock = 0x7000'0000;
constexpr std::size_t kBytes = 1 << 20;
constexpr std::uint64_t kBuild = 77, kLoad = 78;  // calls

class OwnerRecorderTest : public RecordTest {
 protected:
  OwnerRecorderTest() : writer_(create()) {
    EXPECT_TRUE(owners_.open(writer_, nullptr, {}));
    owners_.begin(3);
  }
  void take(std::uintptr_t begin, std::size_t bytes, std::uint64_t calls, const char* function = "build") {
    owners_.take({begin, bytes, bytes}, calls, [&](RecordWriter& record, std::uint32_t list) {
      record.add_call(list, "app", function);
      record.add_call(list, "libc.so.6", "");
    });
  }
  void add(std::uintptr_t address, std::uint32_t weight = 8) { owners_.add({&address, 1}, weight); }

  RecordWriter writer_;
  OwnerRecorder owners_;
};

TEST_F(OwnerRecorderTest, ComesBackAsItWas) {
  take(kBlock, kBytes, kBuild);
  add(kBlock + kBytes - 1);
  add(kBlock, 5);
  add(kBlock + kBytes, 2);
  const Record record = read();
  ASSERT_EQ(record.owners.size(), 2U);
  const RecordedOwner& block = record.owners[0];
  EXPECT_EQ(block.process, 3U);
  EXPECT_EQ(block.node, 0U);
  EXPECT_EQ(block.least_bytes, kBytes);
  EXPECT_EQ(block.most_bytes, kBytes);
  EXPECT_EQ(block.waited[0], 8);
  EXPECT_EQ(block.waited[1], 5);
  EXPECT_EQ(block.misses, 2);
  ASSERT_EQ(record.calls.count(block.calls), 1U);
  const std::vector<RecordedCall>& calls = record.calls.at(block.calls);
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].library, "app");
  EXPECT_EQ(calls[0].function, "build");
  EXPECT_EQ(calls[1].function, "");
  EXPECT_EQ(record.owners[1].calls, 0U);  // nobody's
  EXPECT_EQ(record.owners[1].waited_in_all(), 2);
  EXPECT_EQ(record.unowned, 0U);
}

TEST_F(OwnerRecorderTest, BlocksOfTheSameCallsAndNearlyOneSizeAreOne) {
  take(kBlock, kBytes, kBuild);
  take(kBlock + kBytes, kBytes + 4096, kBuild);
  take(kBlock + 4 * kBytes, 4 * kBytes, kBuild);
  take(kBlock + 8 * kBytes, kBytes, kLoad, "load");
  for (const std::uintptr_t block : {0, 1, 4, 8}) add(kBlock + block * kBytes);
  const Record record = read();
  ASSERT_EQ(record.owners.size(), 3U);
  EXPECT_EQ(record.owners[0].least_bytes, kBytes);
  EXPECT_EQ(record.owners[0].most_bytes, kBytes + 4096);
  EXPECT_EQ(record.owners[0].misses, 2);
  EXPECT_EQ(record.owners[1].least_bytes, 4 * kBytes);
  EXPECT_EQ(record.calls.at(record.owners[2].calls)[0].function, "load");
}

TEST_F(OwnerRecorderTest, WhatIsGivenBackIsNobodys) {
  take(kBlock, kBytes, kBuild);
  EXPECT_TRUE(owners_.has(kBlock));
  owners_.give_back(kBlock);
  EXPECT_FALSE(owners_.has(kBlock));
  add(kBlock);
  ASSERT_EQ(read().owners.size(), 1U);
  EXPECT_EQ(read().owners[0].calls, 0U);
}

TEST_F(OwnerRecorderTest, TellsNodesApart) {
  TierMap* const map = TierMap::create({});
  ASSERT_NE(map, nullptr);
  OwnerRecorder owners;
  ASSERT_TRUE(owners.open(writer_, map, {0, 5}));
  owners.begin(4);
  map->place(kBlock, kBytes, 1);
  const std::uintptr_t addresses[] = {kBlock, kBlock + kBytes};
  owners.add(addresses, 8);
  const Record record = read();
  ASSERT_EQ(record.owners.size(), 2U);
  EXPECT_EQ(record.owners[0].node, 5U);
  EXPECT_EQ(record.owners[0].waited_in_all(), 4);  // half of the sample
  EXPECT_EQ(record.owners[1].node, 0U);
  TierMap::destroy(map);
}

TEST_F(OwnerRecorderTest, AChildHasItsParentsBlocksAndWaitsForItself) {
  take(kBlock, kBytes, kBuild);
  add(kBlock);
  owners_.begin(4);
  add(kBlock, 3);
  const Record record = read();
  ASSERT_EQ(record.owners.size(), 2U);
  EXPECT_EQ(record.owners[0].waited_in_all(), 8);
  EXPECT_EQ(record.owners[1].process, 4U);
  EXPECT_EQ(record.owners[1].waited_in_all(), 3);
  EXPECT_EQ(record.owners[1].calls, record.owners[0].calls);
}

TEST_F(OwnerRecorderTest, CountsWhatFindsNoRoom) {
  for (std::uint64_t calls = 1; calls <= 2 * AllocationSites::kMostSites; ++calls)
    take(kBlock + calls * kBytes, kBytes, calls << 20);
  EXPECT_GE(read().unowned, AllocationSites::kMostSites);
}

}  // namespace
}  // namespace nvmemu
