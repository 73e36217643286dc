// SPDX-License-Identifier: Apache-2.0
#include "touch/touch_loop.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <thread>
#include <vector>

namespace nvmemu::pmbench {
namespace {

class FakeWatch final : public MemoryWatch {
 public:
  Sample sample() noexcept override {
    ++samples;
    return {samples * 1000, samples < short_at ? 1000U : 10U};
  }
  std::uint64_t samples = 0;
  std::uint64_t short_at = ~std::uint64_t{0};
};

class TouchLoopTest : public testing::Test {
 protected:
  static constexpr std::uint64_t kPages = 1000;
  TouchRun touch(const char* order) {
    const auto pattern = make_pattern({.name = order, .pages = kPages});
    return touch_pages(
        {.memory = memory_.data(), .touches = kPages, .timer = choose_timer(), .least_swap_free_bytes = 100},
        **pattern, watch_, stop_);
  }
  std::uint64_t touched() const {
    std::uint64_t pages = 0;
    for (std::uint64_t page = 0; page < kPages; ++page)
      pages += memory_[page * kTouchPageBytes] == std::byte{1} ? 1 : 0;
    return pages;
  }
  static std::uint64_t recorded(const TouchRun& run) {
    std::uint64_t sum = 0;
    for (const LatencyCounts& counts : run.classes) sum += counts.count;
    return sum;
  }

  std::vector<std::byte> memory_{kPages * kTouchPageBytes};
  FakeWatch watch_;
  std::atomic<bool> stop_{false};
};

TEST_F(TouchLoopTest, TouchesEachPageOnceInOrderAndPermuted) {
  for (const char* order : {"sequential", "chase"}) {
    std::ranges::fill(memory_, std::byte{0});
    const TouchRun run = touch(order);
    EXPECT_EQ(run.touches, kPages);
    EXPECT_EQ(recorded(run), kPages);
    EXPECT_EQ(touched(), kPages) << order;
  }
}

// 63.2 % on average; 7 standard deviations.
TEST_F(TouchLoopTest, LeavesAThirdOutWhereItDrawsWithReplacement) {
  EXPECT_EQ(recorded(touch("uniform")), kPages);
  EXPECT_NEAR(static_cast<double>(touched()), 632, 70);
}

TEST_F(TouchLoopTest, SamplesTheResidentSet) {
  const TouchRun run = touch("sequential");
  ASSERT_FALSE(run.rss.empty());
  EXPECT_EQ(run.rss.size(), watch_.samples);
  EXPECT_EQ(run.rss.back().touches, kPages);
  EXPECT_EQ(run.rss.front().rss_bytes, 1000);
}

TEST_F(TouchLoopTest, EndsWhereSwapRunsShort) {
  watch_.short_at = 3;
  const TouchRun run = touch("sequential");
  EXPECT_TRUE(run.was_short_of_swap);
  EXPECT_EQ(run.rss.size(), 3);
  EXPECT_LT(run.touches, kPages);
  EXPECT_EQ(recorded(run), run.touches);
}

TEST_F(TouchLoopTest, EndsWhenItIsStopped) {
  stop_ = true;
  EXPECT_EQ(touch("sequential").touches, 0);
}

// As another task would that takes the processor between two touches.
class SlowToDraw final : public Pattern {
 public:
  void draw(std::span<std::uint64_t> pages) noexcept override {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::ranges::fill(pages, 0);
    ++draws;
  }
  unsigned draws = 0;
};

TEST_F(TouchLoopTest, WhatTakesLongBetweenTouchesIsToldApart) {
  SlowToDraw slow;
  const TouchRun run = touch_pages({.memory = memory_.data(), .touches = kPages, .timer = choose_timer()},
                                   slow, watch_, stop_);
  ASSERT_GT(slow.draws, 0U);
  EXPECT_GE(run.between_ns, 0.9e6 * slow.draws);
  EXPECT_LE(run.between_ns, run.loop_ns);
}

TEST_F(TouchLoopTest, HasTheSlowestInOrder) {
  const TouchRun run = touch("sequential");
  for (std::size_t i = 1; i < run.slowest.size(); ++i) EXPECT_GE(run.slowest[i - 1].ns, run.slowest[i].ns);
  for (const SlowTouch& touch : run.slowest) EXPECT_GT(touch.ns, kSlowTouchNs);
}

}  // namespace
}  // namespace nvmemu::pmbench
