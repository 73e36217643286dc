// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "example_touch.h"
#include "output/touch_figures.h"
#include "output/touch_json.h"
#include "output/touch_text.h"

namespace nvmemu::pmbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

double figure(const char* key, const TouchRun& run) {
  const auto found = std::ranges::find(touch_figures(), std::string_view(key),
                                       [](const TouchFigure& one) { return std::string_view(one.key); });
  return found->of(run).value_or(-1);
}

TEST(TouchFigures, KeepPreemptedTouchesApart) {
  const TouchRun run = example_touch_run(8000);
  EXPECT_NEAR(figure("max_ns", run), 300e3, 1);
  EXPECT_NEAR(figure("touches_over_100us_share", run), 9.0 / 999, 1e-4);
  EXPECT_NEAR(figure("time_over_100us_share", run), 2.7 / (2.7 + 1.98), 0.01);
  EXPECT_EQ(figure("preempted", run), 1);
  EXPECT_NEAR(figure("preempted_time_share", run), 40 / 44.68, 0.01);
}

TEST(TouchFigures, TellWhatTheSlowestTake) {
  const LatencyCounts counts = counts_of({{1000, 990}, {100'000, 10}});
  EXPECT_NEAR(time_share_of_slowest(counts, 0.01), 1.0 / 1.99, 0.02);
  EXPECT_NEAR(time_share_of_slowest(counts, 0.005), 0.5 / 1.99, 0.02);
  EXPECT_NEAR(time_share_of_slowest(counts, 1), 1, 0.02);
  EXPECT_EQ(time_share_of_slowest({}, 0.01), 0);
}

TEST(TouchFigures, TellWhoReclaimed) {
  EXPECT_EQ(figure("reclaimed_by_kswapd_share", example_touch_run(1)), 0.75);
  EXPECT_NEAR(figure("kswapd_cpu_share", example_touch_run(1)), 0.2, 1e-9);
  EXPECT_EQ(figure("reclaimed_by_kswapd_share", TouchRun{}), -1);
}

TEST(TouchJson, ComesBackAsItWas) {
  const std::string text = to_json(example_touch());
  const Result<TouchResult> read = parse_touch_json(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_json(*read), text);
  const auto written = nlohmann::json::parse(text);
  EXPECT_EQ(written["schema"], "pmbench-touch-1");
  EXPECT_EQ(written["cases"][0]["runs"][0]["classes"]["preempted"]["count"], 1);
  EXPECT_EQ(written["cases"][0]["runs"][0]["slowest"][0]["class"], "preempted");
  EXPECT_EQ(written["cases"][0]["runs"][1]["reclaim"]["counters"]["pswpout"], 9000.0);
}

TEST(TouchText, SaysThatNothingWasSwappedAndWhoReclaimsInACgroup) {
  const std::string text = text_report(example_touch());
  EXPECT_THAT(
      text, AllOf(HasSubstr("288 MiB touched, 1.125 times the 256 MiB that are allowed"),
                  HasSubstr("uniform, THP on: nothing was swapped: drawn with replacement"),
                  Not(HasSubstr("cont, THP off: nothing")), HasSubstr("kswapd has no part"),
                  HasSubstr("40 ms at 90.0 % of the touches (preempted)"), HasSubstr("warning: a warning")));
}

TEST(TouchText, SaysWhichSwapWasTaken) {
  TouchResult result = example_touch();
  EXPECT_THAT(text_report(result), HasSubstr("; swap to zram\n"));
  result.swap_taken = {
      .kind = "zram", .device = "/dev/zram1", .held_by = "", .why_not_null_block = "not here"};
  EXPECT_THAT(text_report(result), HasSubstr("; swap to zram (/dev/zram1); not to null_blk: not here\n"));
}

TEST(TouchText, OfTheWholeMachineSaysNothingOfCgroups) {
  TouchResult result = example_touch();
  result.options.whole_machine = true;
  result.cases[0].runs[0].was_short_of_swap = true;
  EXPECT_THAT(text_report(result), AllOf(Not(HasSubstr("has no part")), HasSubstr("ended early")));
}

}  // namespace
}  // namespace nvmemu::pmbench
