// SPDX-License-Identifier: Apache-2.0
// `nvmemu record` and `nvmemu predict --dram`, of a program whose hot memory comes behind its cold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli.h"
#include "counters/record/record_reader.h"

namespace nvmemu {
namespace {

using nlohmann::json;

class PlacedCommand : public CliTest {};

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

}  // namespace
}  // namespace nvmemu
