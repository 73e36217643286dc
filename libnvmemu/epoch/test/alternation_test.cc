// SPDX-License-Identifier: Apache-2.0
#include "epoch/alternation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

namespace nvmemu {
namespace {

constexpr std::uint64_t kLength = 1000;

class AlternationTest : public testing::Test {
 protected:
  std::uint32_t at(std::uint64_t now) { return windows_->at(now, kLength); }
  std::unique_ptr<Alternation> windows_{new Alternation{}};
};

TEST_F(AlternationTest, BeginsWithoutDelaysAndTakesTurns) {
  EXPECT_EQ(windows_->begun(), 0u);
  EXPECT_EQ(at(5000), 0u);
  EXPECT_FALSE(Alternation::has_delays(0));
  EXPECT_EQ(at(5999), 0u);
  EXPECT_EQ(at(6000), 1u);
  EXPECT_TRUE(Alternation::has_delays(1));
  EXPECT_EQ(at(6100), 1u);
  EXPECT_EQ(at(9000), 2u);  // one that lasted longer, for nobody came: not several
  EXPECT_EQ(windows_->begun(), 3u);
}

TEST_F(AlternationTest, KeepsWhenWindowsBeganAndWhatWasDoneByThen) {
  at(5000);
  windows_->add_progress(7);
  at(6000);
  windows_->add_progress(3);
  at(7500);
  EXPECT_EQ(windows_->boundary(0).ns, 5000u);
  EXPECT_EQ(windows_->boundary(0).done, 0u);
  EXPECT_EQ(windows_->boundary(1).ns, 6000u);
  EXPECT_EQ(windows_->boundary(1).done, 7u);
  EXPECT_EQ(windows_->boundary(2).done, 10u);
  EXPECT_EQ(windows_->boundary(3).ns, 0u);
}

TEST_F(AlternationTest, KeepsWhatThreadsRanAndWereDelayedInAWindow) {
  at(5000);
  windows_->add_cost(0, 100, 3);
  windows_->add_cost(0, 50, 1);
  windows_->add_delay(0, 7);
  windows_->add_delay(Alternation::kMostWindows, 7);  // none
  EXPECT_EQ(windows_->boundary(0).cpu_ns, 150u);
  EXPECT_EQ(windows_->boundary(0).overhead_ns, 4u);
  EXPECT_EQ(windows_->boundary(0).delayed_ns, 7u);
}

TEST_F(AlternationTest, AClockThatGoesBackEndsNothing) {
  at(5000);
  EXPECT_EQ(at(1), 0u);
}

TEST_F(AlternationTest, TheLastWindowThatThereIsRoomForLasts) {
  std::uint64_t now = 1;
  for (std::uint32_t i = 0; i < Alternation::kMostWindows + 10; ++i) at(now += kLength);
  EXPECT_EQ(windows_->begun(), Alternation::kMostWindows);
  EXPECT_EQ(at(now + 100 * kLength), Alternation::kMostWindows - 1);
}

// By zeros among others, at any moment of a call.
TEST_F(AlternationTest, WrittenOverAmidUseIsStillAWindow) {
  static_assert(std::is_standard_layout_v<Alternation>);  // which begins with how many have begun
  std::atomic<bool> has_begun = false, is_over = false;
  std::thread writer([&] {
    std::atomic_ref<std::uint32_t> begun(*reinterpret_cast<std::uint32_t*>(windows_.get()));
    for (has_begun = true; !is_over; begun = 0) begun = 2;
  });
  while (!has_begun) std::this_thread::yield();
  std::uint64_t now = 1;
  std::uint32_t last = 0;
  for (int i = 0; i < 1'000'000; ++i) last = std::max(last, at(now += kLength));
  is_over = true;
  writer.join();
  EXPECT_LT(last, Alternation::kMostWindows);
}

TEST_F(AlternationTest, ThreadsThatComeAtOnceEndAWindowOnce) {
  constexpr int kThreads = 4, kTurns = 2000;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (std::uint64_t turn = 1; turn <= kTurns; ++turn) at(turn * kLength);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::uint64_t before = 0;
  for (std::uint32_t i = 0; i < windows_->begun(); ++i) {
    EXPECT_GT(windows_->boundary(i).ns, before) << i;
    before = windows_->boundary(i).ns;
  }
}

}  // namespace
}  // namespace nvmemu
