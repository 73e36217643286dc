// SPDX-License-Identifier: Apache-2.0
// `nvmemu record` and `nvmemu predict --tier`, of a program whose hot memory comes behind its cold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli.h"
#include "counters/record/record_reader.h"

namespace nvmemu {
namespace {

using nlohmann::json;

class PlacedCommand : public CliTest {
 protected:
  std::string file() const { return folder_.file("r.nvr"); }

  // 64 MiB that are hot, and 32 that are cold: 15 of 16 loads are of the hot ones.
  void record(const std::string& kind, const std::vector<std::string>& options) {
    std::vector<std::string> words{"record", "--base-latency", "100ns", "-o", file()};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", NVMEMU_TEST_HOT_AND_COLD, "32", "64", "1500", kind});
    const Outcome run = nvmemu(words);
    ASSERT_EQ(run.status, 0) << run.err;
  }
  // Of what is waited for, what is in the tier: as it is predicted, and as a run with the same rule has it.
  double predicted_share(const std::string& tier) {
    const Outcome outcome = nvmemu({"predict", file(), "--tier", tier, "--json"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome.status == 0 ? json::parse(outcome.out)["placed"][0]["slow_share"].get<double>() : -1;
  }
  double emulated_share(const std::string& kind, const std::string& tier) {
    const Outcome outcome = run({"--tier", tier, "--report", folder_.file("report.json"), "--",
                                 NVMEMU_TEST_HOT_AND_COLD, "32", "64", "1500", kind});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    const json tiers = report()["tiers"];
    const double own = tiers[0]["stall_ns"], slow = tiers[1]["stall_ns"];
    return slow / (own + slow);
  }
  // Some hundred walks tell, and a part of the cold lines may be in a cache in the one run and not in the
  // other.
  void expect_as_emulated(const std::string& kind, const std::string& tier) {
    EXPECT_NEAR(predicted_share(tier), emulated_share(kind, tier), 0.2) << tier;
  }
};

// 15 of 16 loads are of the second 64 MiB. Some hundred samples tell; what is theirs by chance, and what of
// the first half's lines a cache has held, is well within the bounds.
TEST_F(PlacedCommand, OneRunTellsWhatAnyDramWouldDo) {
  const std::string file = folder_.file("r.nvr");
  const Outcome run = nvmemu({"record", "--base-latency", "100ns", "--source", "sampler", "-o", file, "--",
                              NVMEMU_TEST_HOT_AND_COLD, "64", "64", "1500"});
  ASSERT_EQ(run.status, 0) << run.err;
  const Outcome outcome =
      nvmemu({"predict", file, "--tier", "far=3x", "--dram", "72M,256M", "--tier", "all=3x,rest", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json found = json::parse(outcome.out);
  EXPECT_GT(found["memory"]["bytes"], 128 << 20);
  EXPECT_LT(found["memory"]["bytes"], 256 << 20);
  EXPECT_LT(found["memory"]["unknown_share"], 0.2);
  EXPECT_GT(found["memory"]["misses"], 30);
  const json& placed = found["placed"];
  ASSERT_EQ(placed.size(), 5U);
  EXPECT_LT(placed[0]["slow_share"], 0.4) << found;   // the hottest 72 MiB hold what is hot
  EXPECT_GT(placed[1]["slow_share"], 0.6) << found;   // the first 72 MiB do not
  EXPECT_LT(placed[2]["slow_share"], 0.01) << found;  // 256 MiB hold all
  EXPECT_LT(placed[3]["slow_share"], 0.01) << found;
  EXPECT_LT(placed[0]["seconds"], placed[1]["seconds"]);
  EXPECT_LT(placed[1]["seconds"], placed[4]["seconds"]);
}

TEST_F(PlacedCommand, OneRunTellsOfBlocksBySizeAndByWhoAllocatesThem) {
  record("blocks", {"--allocation-sites"});
  expect_as_emulated("blocks", "far=3x,malloc=64MiB");
  expect_as_emulated("blocks", "far=3x,caller=make_cold");
  EXPECT_GT(predicted_share("far=3x,malloc=64MiB"), 0.7);
  // Of some hundred misses a few may be of its start, its stack and its libraries.
  EXPECT_GT(predicted_share("far=3x,malloc=32MiB"), 0.85);
  EXPECT_LT(predicted_share("far=3x,malloc=65MiB"), 0.01);
  EXPECT_LT(predicted_share("far=3x,caller=make_cold"), 0.3);
  EXPECT_GT(predicted_share("far=3x,caller=make_hot,malloc=1MiB"), 0.7);
  EXPECT_LT(predicted_share("far=3x,caller=make_cold,malloc=64MiB"), 0.01);
}

TEST_F(PlacedCommand, OneRunTellsOfANodeThatItWasShown) {
  record("nodes", {"--tier", "far=2x,node=1"});
  expect_as_emulated("nodes", "far=3x,node=1");
  EXPECT_GT(predicted_share("far=3x,node=1"), 0.7);
  EXPECT_LT(predicted_share("far=3x,node=1"), 0.99);
}

}  // namespace
}  // namespace nvmemu
