// SPDX-License-Identifier: Apache-2.0
// NUMA nodes that are tiers: what a program is shown of them, and what it puts there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "preload_cli.h"

namespace nvmemu {
namespace {

using testing::Contains;
using testing::HasSubstr;

class NodesTest : public PreloadTest {
 protected:
  void expect_on_node(const std::string& scenario) {
    expect_ok(scenario, {"--tier", "far=10x,node=62,size=1GiB"});
  }
  Json far() const { return report()["tiers"][1]; }
};

TEST_F(NodesTest, AreShown) { expect_on_node("shows-nodes"); }

TEST_F(NodesTest, RangesAreBoundToThem) {
  expect_on_node("binds");
  EXPECT_EQ(far()["rule"], "node 62");
  EXPECT_GE(far()["placed_bytes"], 64 * 4096);
}

TEST_F(NodesTest, PagesAreMovedToThemAndBack) { expect_on_node("moves-pages"); }

TEST_F(NodesTest, AllPagesAreMovedToThemAndBack) { expect_on_node("moves-all-pages"); }

TEST_F(NodesTest, PagesAreToldByThem) { expect_on_node("tells-pages"); }

TEST_F(NodesTest, PoliciesAreToldByThem) { expect_on_node("tells-policies"); }

TEST_F(NodesTest, AThreadsPolicyIsForWhatItMapsAndStarts) { expect_on_node("has-policies"); }

TEST_F(NodesTest, WithoutTheToolThereAreNone) {
  environment_["NVMEMU_TIERS"] = "far=3x,node=62";
  environment_["LD_PRELOAD"] = NVMEMU_TEST_LIBRARY;
  const Outcome outcome = finish(start_program({"/bin/true"}));
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.err, HasSubstr("nodes are shown by 'nvmemu run' only"));
}

TEST_F(NodesTest, LeaveNothingBehind) {
  environment_["TMPDIR"] = folder_.file("");
  expect_on_node("shows-nodes");
  for (const auto& entry : std::filesystem::directory_iterator(folder_.file("")))
    EXPECT_THAT(entry.path().filename().string(), testing::Not(HasSubstr("nvmemu-nodes")));
}

// Which every machine has.
TEST_F(NodesTest, NodeZeroIsTheMachines) {
  const Outcome outcome = run({"--tier", "far=3x,node=0", "--", "/bin/true"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, HasSubstr("node= takes a number from 1 to 63"));
}

TEST_F(NodesTest, ATierBeyondTheMachinesMemoryIsWarnedOf) {
  expect_ok("burn", {"--tier", "far=3x,after=900TiB"});
  EXPECT_THAT(warnings(), Contains(HasSubstr("nothing will be in it")));
}

TEST_F(NodesTest, OneLargerThanTheMachinesMemoryIsWarnedOf) {
  expect_ok("burn", {"--tier", "far=3x,node=62,size=900TiB"});
  EXPECT_THAT(warnings(), Contains(HasSubstr("more than this machine's memory")));
}

}  // namespace
}  // namespace nvmemu
