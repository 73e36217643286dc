// SPDX-License-Identifier: Apache-2.0
#include "workloads/line_cycle.h"

#include <gtest/gtest.h>

#include <set>

namespace nvmemu::workloads {
namespace {

LineCycle cycle_of(std::size_t lines, unsigned chains = 1, std::uint64_t seed = 1) {
  return *LineCycle::create(lines * kLineBytes, PageSize::k4KiB, seed, chains);
}

// Steps from `from` to `to`; more than there are lines where it never comes there.
std::size_t distance(const LineCycle& cycle, const Line* from, const Line* to) {
  std::size_t steps = 0;
  for (const Line* line = from; line != to && steps <= cycle.line_count(); line = line->next) ++steps;
  return steps;
}

TEST(LineCycle, IsOneCycleThroughAllLines) {
  const LineCycle cycle = cycle_of(12345);
  std::set<std::size_t> seen;
  const Line* line = cycle.starts()[0];
  for (std::size_t i = 0; i < cycle.line_count(); ++i, line = line->next)
    ASSERT_TRUE(seen.insert(cycle.index_of(line)).second) << "met again after " << i << " steps";
  EXPECT_EQ(line, cycle.starts()[0]);
  EXPECT_EQ(*seen.begin(), 0U);
  EXPECT_EQ(*seen.rbegin(), 12344U);
}

TEST(LineCycle, OfOneLineLeadsToItself) {
  const LineCycle cycle = cycle_of(1);
  EXPECT_EQ(cycle.starts()[0]->next, cycle.starts()[0]);
}

TEST(LineCycle, StartsChainsAtEqualDistances) {
  const LineCycle cycle = cycle_of(1600, 16);
  ASSERT_EQ(cycle.starts().size(), 16U);
  for (std::size_t i = 0; i < 16; ++i)
    EXPECT_EQ(distance(cycle, cycle.starts()[i], cycle.starts()[(i + 1) % 16]), 100U);
}

TEST(LineCycle, SpreadsChainsThatDoNotDivideIt) {
  const LineCycle cycle = cycle_of(10, 3);
  EXPECT_EQ(distance(cycle, cycle.starts()[0], cycle.starts()[1]), 3U);
  EXPECT_EQ(distance(cycle, cycle.starts()[1], cycle.starts()[2]), 3U);
  EXPECT_EQ(distance(cycle, cycle.starts()[2], cycle.starts()[0]), 4U);
}

std::vector<std::size_t> first_lines(std::uint64_t seed) {
  const LineCycle cycle = cycle_of(1000, 1, seed);
  std::vector<std::size_t> lines;
  for (const Line* line = cycle.starts()[0]; lines.size() < 20; line = line->next)
    lines.push_back(cycle.index_of(line));
  return lines;
}

TEST(LineCycle, IsTheSameForTheSameSeedOnly) {
  EXPECT_EQ(first_lines(7), first_lines(7));
  EXPECT_NE(first_lines(7), first_lines(8));
}

TEST(LineCycle, IsNotInTheOrderOfAddresses) {
  const LineCycle cycle = cycle_of(1000);
  std::size_t neighbours = 0;
  const Line* line = cycle.starts()[0];
  for (int i = 0; i < 1000; ++i, line = line->next)
    if (line->next == line + 1) ++neighbours;
  EXPECT_LT(neighbours, 10U);  // one is what chance gives
}

}  // namespace
}  // namespace nvmemu::workloads
