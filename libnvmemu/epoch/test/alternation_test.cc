// SPDX-License-Identifier: Apache-2.0
#include "epoch/alternation.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
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
