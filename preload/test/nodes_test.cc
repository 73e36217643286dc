// SPDX-License-Identifier: Apache-2.0
// NUMA nodes that are tiers: what a program is shown of them, and what it puts there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "host/memory_nodes.h"
#include "host/test/needs.h"
#include "preload_cli.h"

namespace nvmemu {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class NodesTest : public PreloadTest {
 protected:
  void expect_on_node(const std::string& scenario) {
    expect_ok(scenario, {"--tier", "far=10x,node=62,size=1GiB"});
  }
  Json far() const { return report()["tiers"][1]; }
  // What a program prints where node 62 is emulated.
  std::string printed_by(std::vector<std::string> command) {
    std::vector<std::string> arguments = {"--quiet", "--tier", "far=3x,node=62,size=1GiB", "--"};
    arguments.insert(arguments.end(), command.begin(), command.end());
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome.out;
  }
};

bool is_installed(const std::string& program) { return std::filesystem::exists("/usr/bin/" + program); }

TEST_F(NodesTest, AreShown) { expect_on_node("shows-nodes"); }

// Programs that nobody of ours has written.
TEST_F(NodesTest, NumactlSeesThemAndPutsProgramsThere) {
  NVMEMU_NEEDS(is_installed("numactl"), "numactl");
  const std::string told = printed_by({"numactl", "-H"});
  EXPECT_THAT(told, HasSubstr("node 62 size: 1024 MB"));
  EXPECT_THAT(told, HasSubstr("node 62 cpus:\n"));
  EXPECT_THAT(printed_by({"numactl", "--membind=62", "numactl", "-s"}), HasSubstr("policy: bind"));
  EXPECT_THAT(printed_by({"numactl", "--membind=62", "numactl", "-s"}), HasSubstr("membind: 62"));
  const Outcome outcome =
      run({"--tier", "far=3x,node=62,size=1GiB", "--", "numactl", "--membind=61", "true"});
  EXPECT_NE(outcome.status, 0) << "a node that nobody has";
}

TEST_F(NodesTest, LibnumaAnswersAsOfARealOne) {
  EXPECT_EQ(printed_by({NVMEMU_TEST_LIBNUMA_ANSWERS}), "size 1073741824\nok\n");
}

TEST_F(NodesTest, HwlocSeesThem) {
  NVMEMU_NEEDS(is_installed("lstopo-no-graphics"), "hwloc-nox");
  const std::string told = printed_by({"lstopo-no-graphics", "--no-io", "--no-caches", "--of", "console"});
  EXPECT_THAT(told, HasSubstr("(P#62 1024MB)"));
}

TEST_F(NodesTest, MemkindAllocatesThere) {
  NVMEMU_NEEDS(*NVMEMU_TEST_MEMKIND != '\0', "libmemkind-dev when the tests were built");
  environment_["MEMKIND_DAX_KMEM_NODES"] = "62";
  const std::string told = printed_by({NVMEMU_TEST_MEMKIND});
  EXPECT_THAT(told, HasSubstr("regular: 0 0 0 0"));
  const bool lies_on_one = read_memory_nodes().page_bytes > 4096;  // as a huge page does
  EXPECT_THAT(told, testing::ContainsRegex(lies_on_one ? "interleave:( 62)+|interleave:( 0)+"
                                                       : "interleave: (62 0 62 0|0 62 0 62)"));
  EXPECT_THAT(told, HasSubstr("dax: 62 62 62 62"));
}

// By libmemkind, which has to be told which nodes these are: there is no firmware to ask.
TEST_F(NodesTest, OpenMpAllocatesThere) {
  NVMEMU_NEEDS(*NVMEMU_TEST_OPENMP_SPACES != '\0', "libmemkind-dev and libomp-dev when the tests were built");
  environment_["MEMKIND_DAX_KMEM_NODES"] = environment_["MEMKIND_HBW_NODES"] = "62";
  EXPECT_THAT(
      printed_by({NVMEMU_TEST_OPENMP_SPACES}),
      AllOf(HasSubstr("default: 0\n"), HasSubstr("large capacity: 62\n"), HasSubstr("high bandwidth: 62\n")));
}

TEST_F(NodesTest, RangesAreBoundToThem) {
  expect_on_node("binds");
  EXPECT_EQ(far()["rule"], "node 62");
  EXPECT_GE(far()["placed_bytes"], 64 * 4096);
  EXPECT_THAT(warnings(), Not(Contains(HasSubstr("nothing was ever put"))));
}

TEST_F(NodesTest, PagesAreMovedToThemAndBack) { expect_on_node("moves-pages"); }

TEST_F(NodesTest, AllPagesAreMovedToThemAndBack) { expect_on_node("moves-all-pages"); }

TEST_F(NodesTest, PagesAreMovedByAnotherProcess) { expect_on_node("is-moved-by-another"); }

TEST_F(NodesTest, ChildrenGoOnAlone) { expect_on_node("forks-in-all-ways"); }

TEST_F(NodesTest, AProgramMayCloseWhatOthersFindThemBy) { expect_on_node("is-alone-without-descriptors"); }

TEST_F(NodesTest, ThreadsForkAtOnce) { expect_on_node("forks-by-threads"); }

// Of a program that maps nothing by itself, what the loader, the stack and the heap have is there.
TEST_F(NodesTest, WhatIsStartedOnOneHasPutSomethingThere) {
  NVMEMU_NEEDS(is_installed("numactl"), "numactl");
  const Outcome outcome = run({"--quiet", "--tier", "far=3x,node=62", "--report", folder_.file("report.json"),
                               "--", "numactl", "--membind=62", "true"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(warnings(), Not(Contains(HasSubstr("nothing was ever put"))));
}

// A tool that moves what another process has, and one that tells where that is.
TEST_F(NodesTest, MigratepagesMovesAnotherProcess) {
  NVMEMU_NEEDS(is_installed("migratepages"), "numactl");
  const std::string told = printed_by(
      {"sh", "-c",
       "sleep 9 & while ! grep -q sleep /proc/$!/maps; do :; done; migratepages $! 0 62; numastat -p $!; "
       "grep -c N62= /proc/$!/numa_maps; kill $!"});
  EXPECT_THAT(told, testing::ContainsRegex("Private +[0-9.]+ +[1-9]")) << "numastat has a column for each";
  EXPECT_THAT(told, testing::ContainsRegex("\n[1-9][0-9]+\n$")) << "mappings with pages on node 62";
}

TEST_F(NodesTest, PagesAreToldByThem) { expect_on_node("tells-pages"); }

TEST_F(NodesTest, WhatIsThereIsCounted) { expect_on_node("tells-counts"); }

TEST_F(NodesTest, WhatChildrenPutThereIsCounted) { expect_on_node("counts-children"); }

// Of two programs, one after the other: the kernel has counted what the first had.
TEST_F(NodesTest, NumastatCountsWhatAProgramHadThere) {
  NVMEMU_NEEDS(is_installed("numactl"), "numactl");
  const std::string told = printed_by(
      {"sh", "-c", "numactl --membind=62 dd if=/dev/zero of=/dev/null bs=8M count=1 2>/dev/null; numastat"});
  EXPECT_THAT(told, testing::ContainsRegex("numa_hit +[0-9]+ +(20[4-9]|2[1-9]|3)[0-9]+\n"))
      << "2048 pages, and its own";
}

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
    EXPECT_THAT(entry.path().filename().string(), Not(HasSubstr("nvmemu-nodes")));
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
