// SPDX-License-Identifier: Apache-2.0
// Tiers in a real process: what a program puts where, what the rules do, and what comes of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "preload_cli.h"

namespace nvmemu {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class TiersTest : public PreloadTest {
 protected:
  // A report's tiers: the machine's, then "far".
  Json far() const { return report()["tiers"][1]; }
  Json near() const { return report()["tiers"][0]; }

  static double stall_by_kind(const Json& figures) {
    double sum = 0;
    for (const char* kind : {"load_stall_ns", "locked_stall_ns", "store_stall_ns", "fence_stall_ns"})
      sum += figures[kind].get<double>();
    return sum;
  }
};

TEST_F(TiersTest, AProgramPlacesItsOwnMemory) {
  expect_ok("places", {"--tier", "far=10x"});
  EXPECT_EQ(far()["name"], "far");
  EXPECT_EQ(far()["rule"], "what the program places");
  EXPECT_EQ(far()["placed_bytes"], (4 << 20) + 1);
  EXPECT_THAT(warnings(), Contains(HasSubstr("asked for a tier that there is not")));
}

TEST_F(TiersTest, AFileOfATierIsPersistentMemory) {
  make_folders();
  expect_ok("persistent-files", {"--tier", "far=10x,file=" + environment_["FOLDER"]});
  EXPECT_EQ(far()["placed_bytes"], 2 * (4 << 20));  // by the rule, and by the child
  EXPECT_THAT(warnings(), Not(Contains(HasSubstr("nothing was ever put"))));
}

TEST_F(TiersTest, SaysWhereARuleMatchesNothing) {
  expect_ok("burn", {"--tier", "far=10x,file=/proc"});
  EXPECT_EQ(far()["placed_bytes"], 0);
  EXPECT_THAT(warnings(), Contains(HasSubstr("nothing was ever put into tier far (file /proc)")));
}

TEST_F(TiersTest, SaysWhereOneOfItsRulesMatchesNothing) {
  expect_ok("burn", {"--tier", "far=10x,file=/proc,rest"});
  EXPECT_THAT(warnings(), Contains(HasSubstr("nothing was ever mapped of /proc (tier far)")));
}

TEST_F(TiersTest, SaysWhereARuleOfAnyKindMatchesNothingBesideOneThatDoes) {
  expect_ok("places", {"--tier", "far=10x,malloc=900TiB,node=62"});
  EXPECT_GT(far()["placed_bytes"], 0) << "by its name";
  EXPECT_THAT(warnings(), Contains("no block of 900 TiB and more was ever allocated (tier far)"));
  EXPECT_THAT(warnings(), Contains("nothing was ever put on node 62 (tier far)"));
  expect_ok("allocates", {"--tier", "far=10x,malloc=1MiB,node=62"});
  EXPECT_THAT(warnings(), Not(Contains(HasSubstr("no block of"))));
  EXPECT_THAT(warnings(), Contains("nothing was ever put on node 62 (tier far)"));
}

// Pages that a block shares with others stay where they are: two of each at most.
MATCHER_P2(IsAbout, mebibytes, blocks, "") {
  const double bytes = arg.template get<double>(), whole = mebibytes * double{1 << 20};
  return bytes <= whole && bytes >= whole - blocks * 2 * 4096;
}

TEST_F(TiersTest, BlocksMayBeInOneByTheirSize) {
  expect_ok("allocates", {"--tier", "far=10x,malloc=1MiB"});
  EXPECT_THAT(far()["placed_bytes"], IsAbout(9, 6));
  EXPECT_EQ(far()["rule"], "blocks of 1 MiB and more");
  expect_ok("allocates", {"--tier", "far=10x,malloc=2MiB"});
  EXPECT_THAT(far()["placed_bytes"], IsAbout(5, 2));
}

TEST_F(TiersTest, TheLargestSizeGoesFirst) {
  expect_ok("allocates", {"--tier", "all=10x,malloc=1MiB", "--tier", "large=20x,malloc=3MiB"});
  EXPECT_THAT(report()["tiers"][1]["placed_bytes"], IsAbout(6, 5));
  EXPECT_THAT(report()["tiers"][2]["placed_bytes"], IsAbout(3, 1));
}

TEST_F(TiersTest, BlocksMayBeInOneByWhoAllocates) {
  expect_ok("allocates", {"--tier", "far=10x,caller=libstdc++,malloc=1MiB"});  // operator new
  EXPECT_THAT(far()["placed_bytes"], IsAbout(1, 1));
  expect_ok("allocates", {"--tier", "far=10x,caller=preload_guest,malloc=1MiB"});
  EXPECT_THAT(far()["placed_bytes"], IsAbout(9, 6));
  expect_ok("allocates", {"--tier", "far=10x,caller=nobody"});
  EXPECT_THAT(
      warnings(),
      Contains(HasSubstr("nothing was ever put into tier far (blocks of 64 KiB and more by nobody)")));
}

TEST_F(TiersTest, SaysWhichCallersNeverAllocate) {
  expect_ok("allocates",
            {"--tier", "far=10x,caller=nobody,caller=preload_guest,caller=libstdc++,malloc=1MiB"});
  EXPECT_THAT(far()["placed_bytes"], IsAbout(9, 6));
  EXPECT_THAT(warnings(), Contains(HasSubstr("no block was ever allocated by nobody (tier far)")));
  EXPECT_THAT(warnings(), Not(Contains(HasSubstr("by preload_guest"))));
  EXPECT_THAT(warnings(), Not(Contains(HasSubstr("by libstdc++"))));  // which it was by both
}

TEST_F(TiersTest, EdgesOfAGraphMayBeInOne) {
  const auto placed = [this](const std::string& name) {
    const Outcome outcome = run({"--tier", name + "=3x", "--report", folder_.file("report.json"), "--",
                                 NVMEMU_TEST_WORKLOAD, "bfs", "--size", "1MiB", "--operations", "1000"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return far()["placed_bytes"].get<double>();
  };
  EXPECT_GT(placed("edges"), 1 << 18);
  EXPECT_EQ(placed("far"), 0);
}

TEST_F(TiersTest, WhatIsStartedAllocatesInThemToo) {
  expect_ok("exec-allocates", {"--tier", "far=10x,malloc=1MiB"});
  EXPECT_THAT(far()["placed_bytes"], IsAbout(9, 6));
}

TEST_F(TiersTest, MemoryMayBeInOneAfterSoMuchOfTheMachines) {
  expect_ok("touches", {"--tier", "far=10x,after=32MiB"});
  EXPECT_THAT(warnings(), Not(Contains(HasSubstr("no process had"))));
  EXPECT_EQ(far()["rule"], "after 32 MiB of other memory");
  expect_ok("touches", {"--tier", "far=10x,after=1TiB"});
  EXPECT_THAT(warnings(), Contains(HasSubstr("no process had 1 TiB of memory: nothing was in tier far")));
}

TEST_F(TiersTest, AFileMaySayThemAll) {
  const std::string file =
      folder_.write("tiers.toml", "[[tier]]\nname = 'far'\nmemory = '10x'\nmalloc = '1MiB'\n");
  expect_ok("allocates", {"--tiers", file});
  EXPECT_THAT(far()["placed_bytes"], IsAbout(9, 6));
  const Outcome outcome = guest("allocates", {"--tier", "far=3x", "--tiers", file});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, HasSubstr("--tiers: " + file + ":1: tier far: there are two of that name"));
}

#if defined(__x86_64__)  // where code is walked
// Two lists of the same kind, one after the other: half of the time is due to each. Bounds as wide as ticks
// that come by chance need, in a run this short.
TEST_F(TiersTest, WhatIsWaitedForIsSharedOutByTier) {
  const Outcome outcome =
      run({"--read-latency", "1x", "--tier", "far=3x", "--report", folder_.file("report.json"), "--",
           NVMEMU_TEST_TIERS, "chain", "--size", "64MiB", "--steps", "3000000"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("tier far, 300 ns"));
  const double near_ns = near()["stall_ns"], far_ns = far()["stall_ns"];
  ASSERT_GT(far_ns, 0);
  EXPECT_GT(far_ns / (near_ns + far_ns), 0.3);
  EXPECT_LT(far_ns / (near_ns + far_ns), 0.7);
  EXPECT_EQ(near()["delay_ns"], 0);
  // 200 ns for each of its misses, which take what this machine's take, be it more than a microsecond.
  EXPECT_GT(far()["delay_ns"], far_ns / 8);
  // By kind, in whole ns on the board; and of all tiers what of all threads. It is a chain of loads.
  const Json totals = report()["totals"], tier = far();
  constexpr double kRounded = 1e4;
  EXPECT_NEAR(stall_by_kind(totals), totals["stall_ns"], kRounded);
  EXPECT_NEAR(stall_by_kind(tier), far_ns, kRounded);
  EXPECT_NEAR(near_ns + far_ns, totals["stall_ns"], kRounded);
  EXPECT_GT(tier["load_stall_ns"], 0.9 * far_ns);
}

// Nearly all is waited for in two mappings, which lie side by side.
TEST_F(TiersTest, WhatIsWaitedForIsRankedByPlace) {
  const Outcome outcome =
      run({"--read-latency", "3x", "--stat", "--report", folder_.file("report.json"), "--", NVMEMU_TEST_TIERS,
           "chain", "--tier", "none", "--size", "64MiB", "--steps", "3000000"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Json places = report()["places"];
  ASSERT_FALSE(places.empty());
  double mapped_ns = 0;
  for (const Json& place : places) {
    if (place["bytes"] >= 64 << 20 && place["name"].is_null()) mapped_ns += place["stall_ns"].get<double>();
  }
  EXPECT_GT(mapped_ns, 0.8 * report()["totals"]["stall_ns"].get<double>()) << places;
  EXPECT_THAT(outcome.err, HasSubstr("for memory at 0x"));
}

// Without symbols, since the program is linked as programs are: by the place of the call in its file. Of
// three runs together: where neighbours leave little time, a handful of walks is all that one has.
TEST_F(TiersTest, WhatIsWaitedForIsRankedByWhoAllocatedIt) {
  std::map<std::string, double> stall_ns;
  double sum_ns = 0, total_ns = 0;
  for (int round = 0; round < 3; ++round) {
    const Outcome outcome = run({"--read-latency", "4x", "--allocation-sites", "--report",
                                 folder_.file("report.json"), "--", NVMEMU_TEST_GUEST, "waits-for-blocks"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("for what was allocated by preload_guest+0x"));
    total_ns += report()["totals"]["stall_ns"].get<double>();
    const Json places = report()["places"];
    for (const Json& place : places) {
      if (place["site"].is_null()) continue;
      EXPECT_THAT(place["site"].get<std::string>(), HasSubstr("preload_guest+0x"));
      EXPECT_TRUE(place["name"].is_null());
      EXPECT_EQ(place["bytes"], 64 << 20);
      stall_ns[place["site"]] += place["stall_ns"].get<double>();
      sum_ns += place["stall_ns"].get<double>();
    }
  }
  ASSERT_EQ(stall_ns.size(), 2U) << report();
  EXPECT_GT(std::max(stall_ns.begin()->second, stall_ns.rbegin()->second), 0.55 * sum_ns);  // 0.8 of it
  EXPECT_GT(sum_ns, 0.4 * total_ns);  // making the lists waits, too
}

TEST_F(TiersTest, BlocksAreOfMappingsWhereNobodyAsks) {
  expect_ok("waits-for-blocks");
  const Json places = report()["places"];
  EXPECT_FALSE(places.empty());
  for (const Json& place : places) EXPECT_TRUE(place["site"].is_null()) << place;
}

TEST_F(TiersTest, WhoAllocatedItIsToldByWalksOnly) {
  const Outcome outcome = run({"--read-latency", "2x", "--allocation-sites", "--no-walks", "--", "true"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, HasSubstr("only walks tell whose memory is waited for"));
  EXPECT_EQ(run({"--dram", "64M", "--page-handler", "thread", "--allocation-sites", "--", "true"}).status,
            125);
}

TEST_F(TiersTest, TheRestMayBeATiers) {
  const Outcome outcome =
      run({"--tier", "far=3x,rest", "--report", folder_.file("report.json"), "--", NVMEMU_TEST_TIERS, "tree",
           "--tier", "none", "--size", "64MiB", "--steps", "3000000"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const double near_ns = near()["stall_ns"], far_ns = far()["stall_ns"];
  EXPECT_LT(near_ns, far_ns / 4);  // what no walk has passed yet is taken for the machine's
  EXPECT_EQ(far()["rule"], "the rest");
}

// What a program's hot memory, which comes behind the cold that fills the DRAM, has it delayed by, for each
// ns that it is waited for natively: it takes set CPU time, delays included, so that it does less of it where
// it is slower.
double delay_of_hot_memory(const Json& report) {
  double stall_ns = 0, delay_ns = 0;
  for (const Json& tier : report["tiers"]) {
    stall_ns += tier["stall_ns"].get<double>();
    delay_ns += tier["delay_ns"].get<double>();
  }
  return stall_ns > 0 ? delay_ns / stall_ns : 0;
}

// At 4x every wait for the tier is delayed by three times what it takes: under `none` all but one in 16 are
// for it. Under `hot` it is so for a window or two of the 3 s, under `two-touch` for one more, until what is
// hot has come: a quarter at most. Two thirds leave room for a machine on which walks come late.
TEST_F(TiersTest, PoliciesBringWhatIsHotIntoDram) {
  const auto run_by = [this](const std::string& policy) {
    const Outcome outcome =
        run({"--tier", "far=4x,after=100MiB", "--policy", policy, "--report", folder_.file("report.json"),
             "--", NVMEMU_TEST_HOT_AND_COLD, "128", "64", "3000"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome.err;
  };
  run_by("none");
  EXPECT_TRUE(report()["migrations"].is_null());
  const double natively_placed = delay_of_hot_memory(report());
  EXPECT_GT(natively_placed, 0.3);  // by how much longer this machine's misses take than its base
  for (const std::string policy : {"hot", "two-touch"}) {
    EXPECT_THAT(run_by(policy + ",window=100ms"), HasSubstr("policy " + policy + ": "));
    const Json migrations = report()["migrations"];
    EXPECT_EQ(migrations["policy"], policy);
    EXPECT_GT(migrations["promotions"], 16);  // of 32 regions
    EXPECT_GT(migrations["demotions"], 0);    // the DRAM was full
    EXPECT_GT(migrations["bytes"], 16 << 21);
    // As no bandwidth is given, at 10 GB/s.
    EXPECT_NEAR(migrations["delay_ns"], migrations["bytes"].get<double>() / 10, 1e3);
    EXPECT_LT(delay_of_hot_memory(report()), natively_placed * 2 / 3) << report()["tiers"];
  }
}

#endif

TEST_F(TiersTest, WithoutTheToolTheEnvironmentSaysIt) {
  environment_["NVMEMU_TIERS"] = "far=3x;far=4x";
  environment_["LD_PRELOAD"] = NVMEMU_TEST_LIBRARY;
  const Outcome outcome = finish(start_program({"/bin/true"}));
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.err, HasSubstr("tier far: there are two of that name"));
}

}  // namespace
}  // namespace nvmemu
