// SPDX-License-Identifier: Apache-2.0
#include "counters/replay/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../../record/test/still_source.h"
#include "counters/replay/replay_source.h"

namespace nvmemu {
namespace {

EpochCounts stall(double ns, double cpu_ns = 100e6) {
  EpochCounts counts;
  counts.cpu_ns = cpu_ns;
  counts.stall_ns = ns;
  counts.overhead_ns = 7;
  counts.interrupted_ns = 7;
  return counts;
}

RecordedEpoch of_thread(std::uint32_t thread, double stall_ns) {
  return {{0, thread, 0}, 0, 1, stall(stall_ns)};
}

TEST(Replay, SortsEpochsByThread) {
  Record record;
  record.info.counts = kSamplerCounts;
  record.epochs = {of_thread(1, 10), of_thread(0, 1), of_thread(1, 20), of_thread(3, 5),
                   of_thread(record_format::kForeignThread, 9)};
  const Replay replay(record);
  EXPECT_EQ(replay.counts(), kSamplerCounts);
  ASSERT_EQ(replay.of_thread(1).size(), 2U);
  EXPECT_EQ(replay.of_thread(1)[0].stall_ns, 10);
  EXPECT_EQ(replay.of_thread(1)[1].stall_ns, 20);
  EXPECT_EQ(replay.of_thread(0).size(), 1U);
  EXPECT_EQ(replay.of_thread(2).size(), 0U);
  EXPECT_EQ(replay.of_thread(3).size(), 1U);
  EXPECT_EQ(replay.of_thread(4).size(), 0U);
  EXPECT_EQ(replay.of_thread(record_format::kForeignThread).size(), 0U);
}

TEST(Replay, TakesNoMemoryForWildNumbers) {
  Record record;
  record.epochs = {of_thread(record_format::kForeignThread - 1, 10), of_thread(0, 1)};
  EXPECT_EQ(Replay(record).of_thread(0).size(), 1U);
}

TEST(Replay, OfNoRecordIsRefused) {
  EXPECT_THAT(Replay::load("/dev/null").error().message, testing::HasSubstr("it is no regular file"));
}

TEST(ReplaySource, TellsEachEpochOnceAndWithoutItsOverhead) {
  const std::vector<EpochCounts> epochs{stall(10), stall(20)};
  StillSource still;
  ReplaySource source(still, epochs);
  const EpochCounts first = source.read();
  EXPECT_EQ(first.stall_ns, 10);
  EXPECT_EQ(first.overhead_ns + first.interrupted_ns, 0);
  EXPECT_TRUE(source.has_more());
  EXPECT_EQ(source.read().stall_ns, 20);
  EXPECT_FALSE(source.has_more());
  EXPECT_EQ(source.read().stall_ns, 0);
}

TEST(ReplaySource, HasNewsWhenItsThreadHasComeAsFarAsTheRecordedOne) {
  const std::vector<EpochCounts> epochs{stall(10), stall(20)};
  StillSource still;
  still.now_ns = 1e9;  // it has run for a while before it is emulated
  ReplaySource source(still, epochs);
  EXPECT_FALSE(source.has_news());
  still.now_ns += 100e6;
  EXPECT_TRUE(source.has_news());
  source.read();
  EXPECT_FALSE(source.has_news());
  source.resume(200e6);  // a delay brings it no further
  EXPECT_FALSE(source.has_news());
  still.now_ns += 100e6;
  EXPECT_TRUE(source.has_news());
  source.read();
  EXPECT_FALSE(source.has_news());
}

}  // namespace
}  // namespace nvmemu
