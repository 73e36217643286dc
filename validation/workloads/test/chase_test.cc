// SPDX-License-Identifier: Apache-2.0
#include "workloads/chase.h"

#include <gtest/gtest.h>

namespace nvmemu::workloads {
namespace {

constexpr Work kMultiplications{Work::Kind::kMultiplications, 3};
constexpr Work kDivisions{Work::Kind::kDivisions, 3};
constexpr std::size_t kLines = 4800;

LineCycle cycle_for(unsigned chains, std::uint64_t seed = 1) {
  return *LineCycle::create(kLines * kLineBytes, PageSize::k4KiB, seed, chains);
}

class ChaseOf : public testing::TestWithParam<unsigned> {};

TEST_P(ChaseOf, MovesEveryChainByOneLineAStep) {
  const LineCycle cycle = cycle_for(GetParam());
  for (const Work work : {Work{}, kMultiplications, kDivisions}) {
    ChaseState state{cycle.starts()};
    std::vector<const Line*> expected = cycle.starts();
    for (auto& line : expected)
      for (int step = 0; step < 101; ++step) line = line->next;
    chase(state, 101, work);
    EXPECT_EQ(state.at, expected) << static_cast<int>(work.kind);
  }
}

TEST_P(ChaseOf, StaysWithoutSteps) {
  const LineCycle cycle = cycle_for(GetParam());
  for (const Work work : {Work{}, kMultiplications, kDivisions}) {
    ChaseState state{cycle.starts()};
    chase(state, 0, work);
    EXPECT_EQ(state.at, cycle.starts());
    EXPECT_EQ(state.worked, 1U);
    EXPECT_EQ(state.divided, ChaseState{}.divided);
  }
}

INSTANTIATE_TEST_SUITE_P(Chains, ChaseOf, testing::Range(1U, kMaxChains + 1));

TEST(Chase, GoesOnWhereItStopped) {
  const LineCycle cycle = cycle_for(2);
  ChaseState at_once{cycle.starts()};
  ChaseState in_parts{cycle.starts()};
  chase(at_once, 100, kMultiplications);
  chase(in_parts, 30, kMultiplications);
  chase(in_parts, 70, kMultiplications);
  EXPECT_EQ(at_once.at, in_parts.at);
  EXPECT_EQ(at_once.worked, in_parts.worked);
}

TEST(Chase, DoesTheWorkOfEveryStep) {
  const LineCycle cycle = cycle_for(1);
  ChaseState state{cycle.starts()};
  chase(state, 2, kMultiplications);
  std::uint64_t expected = 1;
  for (int i = 0; i < 6; ++i) expected = expected * 0x5851f42d + 1;
  EXPECT_EQ(state.worked, expected);
}

TEST(Chase, DividesInEveryStep) {
  const LineCycle cycle = cycle_for(1);
  ChaseState state{cycle.starts()};
  chase(state, 3, kDivisions);  // nine: an odd number, since two of them undo each other
  EXPECT_NEAR(state.divided, 3.141592653589793 / ChaseState{}.divided, 1e-12);
}

TEST(Chase, WorksBetweenLoadsAsBesideThem) {
  const LineCycle cycle = cycle_for(1);
  ChaseState beside{cycle.starts()}, between{cycle.starts()};
  chase(beside, 101, kMultiplications);
  chase(between, 101, {Work::Kind::kBetweenLoads, kMultiplications.operations});
  EXPECT_EQ(between.at, beside.at);
  EXPECT_EQ(between.worked, beside.worked);
}

std::uint64_t checksum_of(std::uint64_t seed, std::uint64_t steps) {
  const LineCycle cycle = cycle_for(4, seed);
  ChaseState state{cycle.starts()};
  chase(state, steps);
  return checksum(cycle, state);
}

TEST(Checksum, IsTheSameForTheSameChase) { EXPECT_EQ(checksum_of(1, 1000), checksum_of(1, 1000)); }
TEST(Checksum, DiffersWithTheSeed) { EXPECT_NE(checksum_of(1, 1000), checksum_of(2, 1000)); }
TEST(Checksum, DiffersWithTheSteps) { EXPECT_NE(checksum_of(1, 1000), checksum_of(1, 1001)); }

}  // namespace
}  // namespace nvmemu::workloads
