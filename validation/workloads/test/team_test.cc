// SPDX-License-Identifier: Apache-2.0
#include "workloads/team.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

namespace nvmemu::workloads {
namespace {

TEST(Team, RunsEveryMemberOnAThreadOfItsOwn) {
  std::vector<std::thread::id> ids(3);
  Team::run(3, [&](Team&, unsigned index) { ids[index] = std::this_thread::get_id(); });
  EXPECT_EQ(std::set<std::thread::id>(ids.begin(), ids.end()).size(), 3U);
}

TEST(Team, OfOneIsTheCaller) {
  std::thread::id id;
  Team::run(1, [&](Team& team, unsigned) {
    team.meet();
    id = std::this_thread::get_id();
  });
  EXPECT_EQ(id, std::this_thread::get_id());
}

TEST(Team, MeetsOnlyWhenAllHaveCome) {
  std::atomic<int> came = 0;
  std::atomic<int> all_had_come = 0;
  Team::run(4, [&](Team& team, unsigned) {
    ++came;
    team.meet();
    if (came == 4) ++all_had_come;
  });
  EXPECT_EQ(all_had_come, 4);
}

}  // namespace
}  // namespace nvmemu::workloads
