// SPDX-License-Identifier: Apache-2.0
#include "host/chase_buffer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <utility>
#include <vector>

#include "host/statistics.h"

namespace nvmemu {
namespace {

constexpr std::size_t kBytes = 2 * ChaseBuffer::kHugePageBytes;

// How far from the start of the buffer each line of one round is, in the order of the chase.
std::vector<std::size_t> one_round(const ChaseBuffer& buffer) {
  std::vector<std::size_t> offsets;
  const void* line = buffer.start();
  do {
    offsets.push_back(static_cast<std::size_t>(static_cast<const std::byte*>(line) - buffer.data()));
    std::memcpy(&line, line, sizeof line);
  } while (line != buffer.start() && offsets.size() <= buffer.loads());
  return offsets;
}

TEST(ChaseBuffer, IsOneCycleOverEveryLine) {
  for (const Pages pages : {Pages::kHuge, Pages::kSmall}) {
    const auto buffer = ChaseBuffer::of_all_lines(kBytes, pages);
    ASSERT_TRUE(buffer) << buffer.error().message;
    const std::vector<std::size_t> offsets = one_round(*buffer);
    EXPECT_EQ(offsets.size(), kBytes / 64);
    EXPECT_EQ(buffer->loads(), kBytes / 64);
    const std::set<std::size_t> distinct(offsets.begin(), offsets.end());
    EXPECT_EQ(distinct.size(), offsets.size());
    EXPECT_EQ(*distinct.begin(), 0U);
    EXPECT_EQ(*distinct.rbegin(), kBytes - 64);
    for (const std::size_t offset : offsets) ASSERT_EQ(offset % 64, 0U);
  }
}

TEST(ChaseBuffer, OrMeetsEveryPageOnce) {
  const auto buffer = ChaseBuffer::of_one_line_per_page(kBytes, Pages::kHuge);
  ASSERT_TRUE(buffer) << buffer.error().message;
  std::set<std::size_t> pages;
  std::set<std::size_t> places;
  for (const std::size_t offset : one_round(*buffer)) {
    pages.insert(offset / 4096);
    places.insert(offset % 4096);
    ASSERT_EQ(offset % 64, 0U);
  }
  EXPECT_EQ(pages.size(), kBytes / 4096);
  EXPECT_EQ(buffer->loads(), kBytes / 4096);
  EXPECT_GT(places.size(), 48U);  // of 64: the lines do not fall on a few sets of a cache
}

TEST(ChaseBuffer, IsInNoOrderThatAPrefetcherKnows) {
  const auto buffer = ChaseBuffer::of_all_lines(kBytes, Pages::kHuge);
  ASSERT_TRUE(buffer) << buffer.error().message;
  const std::vector<std::size_t> offsets = one_round(*buffer);
  std::size_t near = 0;
  for (std::size_t i = 1; i < offsets.size(); ++i)
    if (offsets[i] > offsets[i - 1] && offsets[i] - offsets[i - 1] <= 256) ++near;
  EXPECT_LT(near, offsets.size() / 1000);  // by chance 4 in 65,536
}

TEST(ChaseBuffer, SmallPagesAreNotHuge) {
  const auto buffer = ChaseBuffer::of_all_lines(kBytes, Pages::kSmall);
  ASSERT_TRUE(buffer) << buffer.error().message;
  EXPECT_FALSE(buffer->has_huge_pages());
}

TEST(ChaseBuffer, WhatCannotBeMappedIsAnError) {
  const auto buffer = ChaseBuffer::of_all_lines(std::size_t{1} << 62, Pages::kHuge);
  ASSERT_FALSE(buffer);
  EXPECT_NE(buffer.error().message.find("cannot map"), std::string::npos);
}

TEST(ChaseBuffer, CanBeMoved) {
  auto first = ChaseBuffer::of_one_line_per_page(kBytes, Pages::kHuge);
  ASSERT_TRUE(first);
  const void* start = first->start();
  const ChaseBuffer second = std::move(*first);
  EXPECT_EQ(second.start(), start);
  EXPECT_EQ(one_round(second).size(), kBytes / 4096);
}

TEST(Chase, MakesExactlySoManyLoads) {
  const auto buffer = ChaseBuffer::of_one_line_per_page(kBytes, Pages::kHuge);
  ASSERT_TRUE(buffer);
  const std::vector<std::size_t> offsets = one_round(*buffer);
  for (const std::size_t loads : {std::size_t{1}, std::size_t{7}, std::size_t{8}, std::size_t{21}})
    EXPECT_EQ(chase(buffer->start(), loads), buffer->data() + offsets[loads]) << loads;
  EXPECT_EQ(chase(buffer->start(), buffer->loads()), buffer->start());
}

TEST(Chase, FlushingLeavesTheCycleAsItWas) {
  const auto buffer = ChaseBuffer::of_one_line_per_page(kBytes, Pages::kHuge);
  ASSERT_TRUE(buffer);
  const std::vector<std::size_t> before = one_round(*buffer);
  flush_ahead(buffer->start(), buffer->loads());
  EXPECT_EQ(one_round(*buffer), before);
}

TEST(Chase, FlushedLinesTakeLongerThanCachedOnes) {
  const auto buffer = ChaseBuffer::of_one_line_per_page(ChaseBuffer::kHugePageBytes, Pages::kHuge);
  ASSERT_TRUE(buffer);
  const Clock clock = Clock::calibrate();
  std::vector<double> cached_ns;
  std::vector<double> flushed_ns;
  for (int round = 0; round < 31; ++round) {  // the medians stand even if a third of the rounds is preempted
    const void* line = chase(buffer->start(), buffer->loads());
    cached_ns.push_back(timed_chase_ns(clock, line, buffer->loads()));  // 512 lines: within L1 or L2
    flush_ahead(line, buffer->loads());
    flushed_ns.push_back(timed_chase_ns(clock, line, buffer->loads()));
  }
  EXPECT_GT(median(flushed_ns), 2 * median(cached_ns));  // some 100 ns against some 5
}

}  // namespace
}  // namespace nvmemu
