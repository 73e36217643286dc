// SPDX-License-Identifier: Apache-2.0
#include "counters/record/recording_source.h"

#include <gtest/gtest.h>

#include "counters/replay/replay_source.h"
#include "record_files.h"
#include "still_source.h"

namespace nvmemu {
namespace {

class RecordingSourceTest : public RecordTest {};

TEST_F(RecordingSourceTest, PassesOnWhatItKeeps) {
  RecordWriter writer = create();
  const std::vector<EpochCounts> epochs{epoch(100), epoch(200)};
  StillSource still;
  ReplaySource counted(still, epochs);
  RecordingSource source(counted, writer, {3, 4, 5});
  EXPECT_TRUE(source.has_more());
  source.read();
  const EpochCounts passed_on = source.read();
  EXPECT_FALSE(source.has_more());

  const Record record = read();
  ASSERT_EQ(record.epochs.size(), 2U);
  EXPECT_EQ(record.epochs[0].place.process, 3U);
  EXPECT_EQ(record.epochs[0].place.thread, 4U);
  EXPECT_EQ(record.epochs[0].place.tid, 5U);
  expect_equal(record.epochs[1].counts, passed_on);
}

TEST_F(RecordingSourceTest, EpochsFollowOneAnotherInWallTime) {
  RecordWriter writer = create();
  StillSource still;
  RecordingSource source(still, writer, {});
  for (int i = 0; i < 3; ++i) source.read();
  const Record record = read();
  EXPECT_GE(record.epochs[0].begin_ns, 0);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_GE(record.epochs[i].end_ns, record.epochs[i].begin_ns);
  }
  EXPECT_EQ(record.epochs[1].begin_ns, record.epochs[0].end_ns);
  EXPECT_EQ(record.epochs[2].begin_ns, record.epochs[1].end_ns);
}

}  // namespace
}  // namespace nvmemu
