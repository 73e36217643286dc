// SPDX-License-Identifier: Apache-2.0
#include "paging/device_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace nvmemu {
namespace {

constexpr auto kRead = PageOperation::kRead, kWrite = PageOperation::kWrite;
constexpr std::uint64_t kUs = 1000;

TEST(DeviceModel, ARequestTakesLatencyAndTransfer) {
  DeviceModel model(
      {.read = LatencyQuantiles(10'000), .write = LatencyQuantiles(20'000), .read_bps = 4096e6});
  EXPECT_EQ(model.submit(kRead, 7, 1, 5 * kUs), 16 * kUs);
  EXPECT_EQ(model.submit(kRead, 100, 4, 100 * kUs), 114 * kUs);
  EXPECT_EQ(model.submit(kWrite, 7, 100, 200 * kUs), 220 * kUs);  // as fast as it likes
}

TEST(DeviceModel, MoreThanItsChannelsWait) {
  DeviceModel model({.read = LatencyQuantiles(10'000), .channels = 2});
  std::vector<std::uint64_t> done;
  for (std::uint64_t i = 0; i < 5; ++i) done.push_back(model.submit(kRead, i * 9, 1, 0));
  EXPECT_EQ(done, (std::vector<std::uint64_t>{10 * kUs, 10 * kUs, 20 * kUs, 20 * kUs, 30 * kUs}));
}

TEST(DeviceModel, NoMoreBytesAreMovedThanItsRate) {
  DeviceModel model({.read = LatencyQuantiles(10'000), .read_bps = 4096e6, .channels = 64});
  for (std::uint64_t i = 1; i <= 40; ++i)
    EXPECT_EQ(model.submit(kRead, i * 9, 1, 0), std::max<std::uint64_t>(11, i) * kUs);
  EXPECT_EQ(model.submit(kWrite, 0, 1, 0), 0U);  // which has a rate of its own
}

TEST(DeviceModel, ASlowRequestHoldsNobodyUp) {
  DeviceModel model(
      {.read = LatencyQuantiles(9e6), .sequential_read = LatencyQuantiles(1000), .channels = 2});
  EXPECT_EQ(model.submit(kRead, 0, 1, 0), 9000 * kUs);
  EXPECT_EQ(model.submit(kRead, 1, 1, 0), 1 * kUs);
}

TEST(DeviceModel, WhatFollowsTheOneBeforeIsFaster) {
  DeviceModel model({.read = LatencyQuantiles(8e6), .sequential_read = LatencyQuantiles(100e3)});
  EXPECT_EQ(model.submit(kRead, 10, 2, 0), 8000 * kUs);
  EXPECT_EQ(model.submit(kRead, 12, 1, 8000 * kUs), 8100 * kUs);
  EXPECT_EQ(model.submit(kRead, 12, 1, 9000 * kUs), 17'000 * kUs);  // once more
  const DeviceCounts::Of& reads = model.counts().of[0];
  EXPECT_EQ(reads.sequential, 1U);
  EXPECT_EQ(reads.random, 2U);
  EXPECT_EQ(reads.sequential_pages, 1U);
  EXPECT_EQ(reads.random_pages, 3U);
  EXPECT_EQ(model.counts().pages(kRead), 4U);
  EXPECT_EQ(model.counts().busy_ns, 16'100e3);
}

// A buffer of two pages, which gets rid of one in 10 us.
TEST(DeviceModel, WritesWaitForRoomInTheBuffer) {
  DeviceModel model(
      {.write = LatencyQuantiles(1000), .channels = 8, .buffer_bytes = 2 * 4096, .drain_bps = 4096 / 10e-6});
  EXPECT_EQ(model.submit(kWrite, 0, 1, 0), 1 * kUs);
  EXPECT_EQ(model.submit(kWrite, 1, 1, 0), 1 * kUs);
  EXPECT_EQ(model.submit(kWrite, 2, 1, 0), 11 * kUs);
  EXPECT_EQ(model.submit(kWrite, 3, 1, 100 * kUs), 101 * kUs);  // it is empty by then
}

TEST(DeviceModel, BlocksAreErasedWhereWritesDoNotGoOn) {
  DeviceModel model(
      {.write = LatencyQuantiles(1000), .channels = 8, .erase_block_bytes = 4 * 4096, .erase_ns = 1.5e6});
  EXPECT_EQ(model.submit(kWrite, 0, 1, 0), 1501 * kUs);
  EXPECT_EQ(model.submit(kWrite, 1, 3, 2000 * kUs), 2001 * kUs);
  EXPECT_EQ(model.submit(kWrite, 4, 8, 4000 * kUs), 7001 * kUs);  // two more
  EXPECT_EQ(model.submit(kWrite, 0, 1, 8000 * kUs), 9501 * kUs);
  EXPECT_EQ(model.counts().erases, 4U);
}

TEST(DeviceModel, OfSortedRequestsEachTakesAQuarterOfASeek) {
  DeviceModel model({.write = LatencyQuantiles(8e6), .sequential_write = LatencyQuantiles(400e3)});
  EXPECT_EQ(model.submit(kWrite, 10, 2, 0, true), 2300 * kUs);
  EXPECT_EQ(model.submit(kWrite, 12, 1, 10'000 * kUs, true), 10'400 * kUs);
  EXPECT_EQ(model.submit(kWrite, 90, 1, 20'000 * kUs, false), 28'000 * kUs);
  DeviceModel alike({.write = LatencyQuantiles(8e6)});
  EXPECT_EQ(alike.submit(kWrite, 10, 2, 0, true), 8000 * kUs);  // where nothing seeks
}

TEST(DeviceModel, FlushesHaveAChannelEach) {
  DeviceModel one({.read = LatencyQuantiles(100e3), .channels = 1, .flush_ns = 600e3});
  EXPECT_EQ(one.flush(0), 600 * kUs);
  EXPECT_EQ(one.flush(200 * kUs), 1200 * kUs);
  EXPECT_EQ(one.submit(kRead, 7, 1, 300 * kUs), 1300 * kUs);
  DeviceModel two({.read = LatencyQuantiles(100e3), .channels = 2, .flush_ns = 600e3});
  EXPECT_EQ(two.flush(0), 600 * kUs);
  EXPECT_EQ(two.submit(kRead, 7, 1, 300 * kUs), 400 * kUs);
  EXPECT_EQ(two.flush(400 * kUs), 1000 * kUs);
  EXPECT_EQ(two.flush(400 * kUs), 1200 * kUs);
}

// A buffer of 100 pages, which gets rid of one in 10 us.
TEST(DeviceModel, AFlushWaitsForTheBufferToBeEmpty) {
  DeviceModel model({.write = LatencyQuantiles(1000),
                     .buffer_bytes = 100 * 4096,
                     .drain_bps = 4096 / 10e-6,
                     .flush_ns = 600e3});
  EXPECT_EQ(model.submit(kWrite, 0, 50, 0), 1 * kUs);
  EXPECT_EQ(model.drain(1 * kUs), 500 * kUs);
  EXPECT_EQ(model.flush(1 * kUs), 1100 * kUs);
  EXPECT_EQ(model.submit(kWrite, 90, 1, 200 * kUs), 1101 * kUs) << "behind the flush";
  EXPECT_EQ(model.flush(5000 * kUs), 5600 * kUs);
}

// What comes during the first is served between them, and keeps those waiting who come later.
TEST(DeviceModel, TwoStepsLetOthersInBetween) {
  DeviceModel model({.read = LatencyQuantiles(100e3), .channels = 1});
  EXPECT_EQ(model.take_two_steps(1000 * kUs, 500e3), 2000 * kUs);
  EXPECT_EQ(model.submit(kRead, 7, 1, 1200 * kUs), 1600 * kUs);
  EXPECT_EQ(model.submit(kRead, 90, 1, 1500 * kUs), 1700 * kUs);
  EXPECT_EQ(model.submit(kRead, 7, 1, 1600 * kUs), 2300 * kUs);
  EXPECT_EQ(model.take_two_steps(1700 * kUs, 500e3), 3300 * kUs);
  EXPECT_EQ(model.submit(kRead, 90, 1, 1300 * kUs), 1800 * kUs) << "between the steps before, still";
  EXPECT_EQ(model.submit(kRead, 7, 1, 2400 * kUs), 2900 * kUs);
  EXPECT_EQ(model.submit(kRead, 90, 1, 9000 * kUs), 9100 * kUs);
}

TEST(DeviceModel, TwoStepsHaveOneChannelOfSeveral) {
  DeviceModel model({.read = LatencyQuantiles(100e3), .channels = 2});
  EXPECT_EQ(model.take_two_steps(0, 500e3), 1000 * kUs);
  EXPECT_EQ(model.submit(kRead, 7, 1, 0), 100 * kUs);
  EXPECT_EQ(model.take_two_steps(0, 500e3), 1100 * kUs);
}

TEST(DeviceModel, TheSameSeedGivesTheSameTimes) {
  const PageDevice device{.read = {{0.5, 9000}, {0.99, 10'000}, {0.9999, 40'000}}};
  DeviceModel a(device, 3), b(device, 3), other(device, 4);
  bool differs = false;
  double sum = 0;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    const std::uint64_t now_ns = i * 1'000'000, done_ns = a.submit(kRead, i * 5, 1, now_ns);
    ASSERT_EQ(done_ns, b.submit(kRead, i * 5, 1, now_ns));
    differs |= done_ns != other.submit(kRead, i * 5, 1, now_ns);
    sum += static_cast<double>(done_ns - now_ns);
  }
  EXPECT_TRUE(differs);
  EXPECT_NEAR(sum / 10'000, 9350, 150);  // half at 9 us, half between that and 10, and a tail
}

TEST(DeviceModel, TimeBeyondDoublesOrBackwardsDoesNoHarm) {
  DeviceModel model(page_device_of(5000));
  EXPECT_GE(model.submit(kRead, 0, 1, std::uint64_t{1} << 62), std::uint64_t{1} << 62);
  EXPECT_GE(model.submit(kRead, 0, 1, 7), 7U);
}

// FlashVM, section 5: 4 GB of 100,000 cycles, 948 MB a day. By this arithmetic more than the paper's 700
// years, which allows for more.
TEST(Wear, IsCapacityTimesCyclesByWhatIsWritten) {
  EXPECT_NEAR(years_to_wear_out(4e9, 1e5, 948e6 / 86400, 1), 1155, 1);
  EXPECT_EQ(years_to_wear_out(4e9, 1e5, 0, 1), 0);
}

}  // namespace
}  // namespace nvmemu
