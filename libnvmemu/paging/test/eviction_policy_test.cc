// SPDX-License-Identifier: Apache-2.0
#include "paging/eviction_policy.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace nvmemu {
namespace {

class EvictionPolicyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(frames_.open(1000));
    for (std::uint64_t page = 0; page < 100; ++page) frames_.add(page, 0);
  }
  void TearDown() override { frames_.close(); }
  std::uint64_t evict(PolicyKind kind) {
    const Frames::Number number = policies_[kind].choose(frames_);
    EXPECT_TRUE(frames_.is_listed(number));
    const std::uint64_t page = frames_[number].page;
    frames_.take_out(number);
    return page;
  }
  Frames frames_;
  EvictionPolicies policies_;
};

TEST_F(EvictionPolicyTest, FifoTakesTheOldest) {
  for (std::uint64_t page = 0; page < 100; ++page) EXPECT_EQ(evict(PolicyKind::kFifo), page);
  EXPECT_EQ(policies_[PolicyKind::kFifo].choose(frames_), Frames::kNone);
}

TEST_F(EvictionPolicyTest, RandomTakesEachOnceInNoOrderOfTheirs) {
  for (Frames::Number number = 1; number <= 100; number += 3)
    frames_.remove(number);  // free ones are not chosen
  std::set<std::uint64_t> evicted;
  int in_order = 0;
  std::uint64_t last = 0;
  while (frames_.listed() > 0) {
    const std::uint64_t page = evict(PolicyKind::kRandom);
    EXPECT_TRUE(evicted.insert(page).second);
    in_order += page == last + 1 ? 1 : 0;
    last = page;
  }
  EXPECT_EQ(evicted.size(), 66U);
  EXPECT_LT(in_order, 20);
  EXPECT_EQ(policies_[PolicyKind::kRandom].choose(frames_), Frames::kNone);
}

TEST_F(EvictionPolicyTest, RandomSpreads) {
  std::map<Frames::Number, int> chosen;
  for (int i = 0; i < 10'000; ++i) ++chosen[policies_[PolicyKind::kRandom].choose(frames_)];
  EXPECT_EQ(chosen.size(), 100U);
  for (const auto& [number, times] : chosen) EXPECT_NEAR(times, 100, 60) << number;
}

TEST_F(EvictionPolicyTest, ClockPassesOverOnceWhatWasOfUse) {
  frames_[1].was_of_use = true;
  EXPECT_EQ(evict(PolicyKind::kClock), 1U);
  for (std::uint64_t page = 2; page < 100; ++page) EXPECT_EQ(evict(PolicyKind::kClock), page);
  EXPECT_EQ(evict(PolicyKind::kClock), 0U);
  EXPECT_EQ(policies_[PolicyKind::kClock].choose(frames_), Frames::kNone);
}

}  // namespace
}  // namespace nvmemu
