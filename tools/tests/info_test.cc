// SPDX-License-Identifier: Apache-2.0
// `nvmemu info`: what it says of this machine, whatever that has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "cli.h"
#include "host/calibration.h"

namespace nvmemu {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class InfoCommand : public CliTest {
 protected:
  json info() { return json::parse(nvmemu({"info", "--json"}).out); }

  // By a calibration in which a miss takes 100 ns natively, and that as walked.
  json info_where_walks_take(double miss_ns) {
    Calibration calibration = hand_made_calibration();
    calibration.native_miss_ns = 100;
    calibration.walked_miss_ns = miss_ns;
    const auto stored = store_calibration(calibration, calibration_path());
    EXPECT_TRUE(stored) << stored.error().message;
    return info();
  }
};

TEST_F(InfoCommand, SaysWhetherTheCountersAreRightAndWhyNot) {
  const json all = info();
  const json& counters = all["counters"];
  EXPECT_FALSE(counters["why"].get<std::string>().empty());
  EXPECT_FALSE(counters["trusted"].get<bool>() && !all["capabilities"]["pmu"]["available"].get<bool>());
  const bool shown = nvmemu({"info"}).out.find("counters are right") != std::string::npos;
  EXPECT_EQ(shown, all["capabilities"]["pmu"]["available"].get<bool>());
}

TEST_F(InfoCommand, ShowsWhatWalksWereMeasuredToTake) {
  const json figures = info()["calibration"]["figures"];
  EXPECT_EQ(figures["walked_miss_ns"], hand_made_calibration().walked_miss_ns);
  EXPECT_EQ(figures["walked_step_ns"], hand_made_calibration().walked_step_ns);
  EXPECT_THAT(nvmemu({"info"}).out, HasSubstr("as walked"));
}

TEST_F(InfoCommand, ExpectsAnErrorWhereWalksFindMissesLongerOrShorterThanTheyAre) {
  const auto parts = [](const json& info) {
    return info["expected_error"]["parts"].get<std::vector<std::string>>();
  };
  const json much = info_where_walks_take(130);
  if (much["emulation"]["walks"]["name"] != "on") GTEST_SKIP() << "needs a machine that walks";
  EXPECT_THAT(parts(much), Contains(AllOf(HasSubstr("30 % longer"), HasSubstr("too short"))));
  EXPECT_THAT(parts(info_where_walks_take(80)),
              Contains(AllOf(HasSubstr("20 % shorter"), HasSubstr("too long"))));
  EXPECT_THAT(parts(info_where_walks_take(105)), Not(Contains(HasSubstr("Walks:"))));
  EXPECT_THAT(parts(info_where_walks_take(0)), Not(Contains(HasSubstr("Walks:"))));
}

}  // namespace
}  // namespace nvmemu
