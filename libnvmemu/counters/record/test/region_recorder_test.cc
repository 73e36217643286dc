// SPDX-License-Identifier: Apache-2.0
#include "counters/record/region_recorder.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "base/mapped.h"
#include "record_files.h"

namespace nvmemu {
namespace {

constexpr std::uintptr_t kRegion = RegionHeat::kRegionBytes;

class RegionRecorderTest : public RecordTest {
 protected:
  RegionRecorderTest()
      : writer_(create()), heat_(map_zeroed<RegionHeat>()), recorder_(map_zeroed<RegionRecorder>()) {}
  ~RegionRecorderTest() override {
    unmap(recorder_);
    unmap(heat_);
  }
  void add(std::uintptr_t address, std::uint32_t weight) { heat_->add({&address, 1}, weight); }
  void tell(std::uint32_t process = 3) { recorder_->tell(*heat_, writer_, process); }

  RecordWriter writer_;
  RegionHeat* heat_;
  RegionRecorder* recorder_;
};

TEST_F(RegionRecorderTest, ComesBackAsItWas) {
  add(7 * kRegion + 1, 100);
  add(7 * kRegion + 1, 50);
  heat_->note_resident(2 * kRegion, 4096);
  tell();
  const Record record = read();
  EXPECT_TRUE(record.keeps_regions);
  ASSERT_EQ(record.regions.size(), 2U);
  const RecordedRegion& first = record.regions[0];
  EXPECT_EQ(first.process, 3U);
  EXPECT_EQ(first.address, 7 * kRegion);
  EXPECT_EQ(first.waited[0], 100);
  EXPECT_EQ(first.waited[1], 50);
  EXPECT_EQ(first.misses, 2);
  EXPECT_EQ(first.resident_bytes, 0);
  EXPECT_EQ(first.mapping, "");
  EXPECT_EQ(record.regions[1].address, 2 * kRegion);
  EXPECT_EQ(record.regions[1].resident_bytes, 4096);
  EXPECT_EQ(record.elsewhere, 0);
}

TEST_F(RegionRecorderTest, ARegionHasOneEntryThatGoesOn) {
  add(kRegion, 1);
  tell();
  add(kRegion, 2);
  add(2 * kRegion, 5);
  tell();
  tell();
  const Record record = read();
  ASSERT_EQ(record.regions.size(), 2U);
  EXPECT_EQ(record.regions[0].waited_in_all(), 3);
  EXPECT_EQ(record.regions[1].waited_in_all(), 5);
}

TEST_F(RegionRecorderTest, SaysWhatIsMappedThere) {
  char on_stack = 0;
  add(reinterpret_cast<std::uintptr_t>(&on_stack), 1);
  tell();
  const Record record = read();
  ASSERT_EQ(record.regions.size(), 1U);
  EXPECT_EQ(record.regions[0].mapping, "[stack]");
  EXPECT_LT(record.regions[0].mapping_begin, record.regions[0].mapping_end);
}

TEST_F(RegionRecorderTest, AChildsAreItsOwn) {
  add(kRegion, 1);
  tell(3);
  heat_->forget();
  recorder_->forget();
  add(kRegion, 8);
  tell(4);
  const Record record = read();
  ASSERT_EQ(record.regions.size(), 2U);
  EXPECT_EQ(record.regions[0].waited_in_all(), 1);
  EXPECT_EQ(record.regions[1].process, 4U);
  EXPECT_EQ(record.regions[1].waited_in_all(), 8);
}

TEST_F(RegionRecorderTest, WhatFindsNoRoomIsElsewhere) {
  for (std::uintptr_t region = 1; region <= RegionHeat::kMost; ++region)
    heat_->note_resident(region * kRegion, 1);
  add((RegionHeat::kMost + 1) * kRegion, 7);
  tell();
  add((RegionHeat::kMost + 1) * kRegion, 2);
  tell();
  EXPECT_EQ(read().elsewhere, 9);
}

}  // namespace
}  // namespace nvmemu
