// SPDX-License-Identifier: Apache-2.0
// `nvmemu events`, from outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli.h"

namespace nvmemu {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

using EventsCommand = CliTest;

TEST_F(EventsCommand, PrintsADesignsEventsFormulaAndQuality) {
  const Outcome outcome = nvmemu({"events", "--cpu", "skylake-sp"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("Skylake-SP (skx)"), HasSubstr("CYCLE_ACTIVITY:STALLS_L3_MISS"),
                                 HasSubstr("0x60006a3"), HasSubstr("direct: "), HasSubstr("good: ")));
}

TEST_F(EventsCommand, PrintsJsonWithOrigins) {
  const json answer = json::parse(nvmemu({"events", "--cpu", "gnr", "--json"}).out);
  EXPECT_EQ(answer["schema"], "nvmemu-events-1");
  ASSERT_EQ(answer["designs"].size(), 1U);
  const json& design = answer["designs"][0];
  EXPECT_EQ(design["name"], "Granite Rapids");
  for (const json& event : design["events"]) {
    if (event["role"] != "stall") continue;
    EXPECT_EQ(event["config"], "0x9000947");
    EXPECT_EQ(event["origin"], "raw");
    EXPECT_EQ(event["mismatch"], false);
    return;
  }
  FAIL() << "no stall event: " << design;
}

TEST_F(EventsCommand, SaysWhetherWhatIsMovedIsCounted) {
  EXPECT_THAT(
      nvmemu({"events", "--cpu", "spr"}).out,
      AllOf(HasSubstr("memory-reads"), HasSubstr("OCR:READS_TO_CORE_L3_MISS"), HasSubstr("bytes moved")));
  EXPECT_THAT(nvmemu({"events", "--cpu", "zen4"}).out, HasSubstr("not counted: a core does not count"));
  const json answer = json::parse(nvmemu({"events", "--cpu", "skx", "--json"}).out);
  EXPECT_EQ(answer["designs"][0]["bytes_moved"]["counted"], false);
}

TEST_F(EventsCommand, ShowsEveryDesign) {
  const json answer = json::parse(nvmemu({"events", "--cpu", "all", "--json"}).out);
  EXPECT_EQ(answer["designs"].size(), 26U);  // Intel's 17, Zen 1 to 5, four of Arm's
  EXPECT_THAT(nvmemu({"events", "--cpu", "all"}).out,
              AllOf(HasSubstr("Sandy Bridge-EP"), HasSubstr("Zen 5"), HasSubstr("Neoverse V2")));
}

TEST_F(EventsCommand, WithoutANameIsAboutThisMachine) {
  const Outcome outcome = nvmemu({"events"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("This machine"), HasSubstr("used here"),
                                 Not(HasSubstr("no supported processor"))));
  const json answer = json::parse(nvmemu({"events", "--json"}).out);
  EXPECT_TRUE(answer["machine"].is_string());
  EXPECT_TRUE(answer["used"].is_string());
}

TEST_F(EventsCommand, SuggestsTheNearestName) {
  const Outcome outcome = nvmemu({"events", "--cpu", "sapphire rapid"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("'sapphire rapid'"), HasSubstr("did you mean 'Sapphire Rapids'?")));
  EXPECT_THAT(nvmemu({"events", "--cpu", "pentium"}).err, HasSubstr("--cpu all"));
}

}  // namespace
}  // namespace nvmemu
