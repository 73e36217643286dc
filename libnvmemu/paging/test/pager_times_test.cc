// SPDX-License-Identifier: Apache-2.0
// How long each kind of fault took, and how many there were, are one count.
#include <gtest/gtest.h>

#include "simulated_process.h"

namespace nvmemu {
namespace {

using simulated::kLimit;
using simulated::pages;
using simulated::Process;

std::uint64_t all_in(const TimeHistogram& times) {
  std::uint64_t all = 0;
  for (const auto& bucket : times.buckets) all += bucket;
  return all;
}

TEST(PagerTimes, AreOfEachFaultOnce) {
  Process process;
  ASSERT_TRUE(process.pager.add(pages(0, 4 * kLimit)));
  process.fill(4 * kLimit);
  for (std::uint64_t page = 0; page < 4 * kLimit; ++page) process.load(page);
  for (std::uint64_t page = 4 * kLimit; page-- > 3 * kLimit;) process.save(page, 7);  // the youngest first
  const PagingTally& tally = process.tally;
  EXPECT_GT(tally.first_touches, 0U);
  EXPECT_GT(tally.soft_faults, 0U);
  EXPECT_GT(tally.hard_faults, 3 * kLimit);
  EXPECT_GT(tally.write_faults, kLimit / 2) << "what was read in is written to";
  EXPECT_EQ(all_in(tally.first), tally.first_touches);
  EXPECT_EQ(all_in(tally.soft), tally.soft_faults);
  EXPECT_EQ(all_in(tally.hard), tally.hard_faults);
  EXPECT_EQ(all_in(tally.write), tally.write_faults);
}

// The device's part is counted by itself, too.
TEST(PagerTimes, OfHardFaultsHoldTheDevices) {
  Process process({.latency_ns = 20'000});
  ASSERT_TRUE(process.pager.add(pages(0, 2 * kLimit)));
  process.fill(2 * kLimit);
  for (std::uint64_t page = 0; page < kLimit; ++page) process.load(page);
  const PagingTally& tally = process.tally;
  ASSERT_GT(tally.hard_faults, kLimit / 2);
  EXPECT_GE(tally.hard_ns, 20'000 * tally.hard_faults);
  EXPECT_LT(tally.write_ns + tally.soft_ns, tally.hard_ns) << "which wait for no device";
}

}  // namespace
}  // namespace nvmemu
