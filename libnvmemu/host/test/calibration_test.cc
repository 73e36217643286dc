// SPDX-License-Identifier: Apache-2.0
#include "host/calibration.h"

#include <gtest/gtest.h>

#include <clocale>

#include "host/test/sample_calibration.h"

namespace nvmemu {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Calibration, SurvivesTheRoundTrip) {
  const Calibration written = sample_calibration();
  const auto read = parse_calibration(serialize(written));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(serialize(*read), serialize(written));
  EXPECT_EQ(read->cpu_model, written.cpu_model);
  EXPECT_EQ(read->boot_id, written.boot_id);
  EXPECT_EQ(read->base_latency_ns, written.base_latency_ns);
  EXPECT_EQ(read->walked_miss_ns, written.walked_miss_ns);
  EXPECT_EQ(read->native_miss_ns, written.native_miss_ns);
  EXPECT_EQ(read->loaded_ratio, written.loaded_ratio);
  EXPECT_EQ(read->walked_step_ns, written.walked_step_ns);
  EXPECT_EQ(read->walk_begin_ns, written.walk_begin_ns);
  EXPECT_EQ(read->copy_bandwidth_all_bps, written.copy_bandwidth_all_bps);
  EXPECT_TRUE(read->huge_pages);
  EXPECT_TRUE(read->unstable);
}

TEST(Calibration, KeepsQuotesAndBackslashesOfAProcessorsName) {
  Calibration written = sample_calibration();
  written.cpu_model = R"(The "best" CPU \ ever = 1)";
  const auto read = parse_calibration(serialize(written));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->cpu_model, written.cpu_model);
}

TEST(Calibration, DoesNotDependOnTheLocale) {
  const char* with_comma = std::setlocale(LC_NUMERIC, "de_DE.UTF-8");
  const auto read = parse_calibration(serialize(sample_calibration()));
  if (with_comma != nullptr) std::setlocale(LC_NUMERIC, "C");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->base_latency_ns, sample_calibration().base_latency_ns);
}

TEST(Calibration, IgnoresUnknownKeysCommentsAndBlankLines) {
  const auto read =
      parse_calibration("# from the future\n\nwarp_factor = [9]\n" + serialize(sample_calibration()));
  EXPECT_TRUE(read) << read.error().message;
}

TEST(Calibration, NamesTheMissingKey) {
  const std::string text = replaced(serialize(sample_calibration()), "timer_cost_ns", "timer_price_ns");
  const auto read = parse_calibration(text);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("'timer_cost_ns' is missing"), std::string::npos)
      << read.error().message;
  EXPECT_FALSE(read.error().hint.empty());
}

TEST(Calibration, OfAnEarlierVersionIsMeasuredAnew) {
  const std::string text = replaced(serialize(sample_calibration()), "walked_miss_ns = 170.5\n", "");
  const auto read = parse_calibration(text);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().hint.find("nvmemu calibrate"), std::string::npos) << read.error().hint;
}

TEST(Calibration, AnEmptyFileIsAnError) { EXPECT_FALSE(parse_calibration("")); }

class MalformedValue : public testing::TestWithParam<const char*> {};

TEST_P(MalformedValue, IsAnErrorThatNamesTheKey) {
  const std::string text = replaced(serialize(sample_calibration()), "base_latency_ns = 163.25",
                                    std::string("base_latency_ns = ") + GetParam());
  const auto read = parse_calibration(text);
  ASSERT_FALSE(read) << GetParam();
  EXPECT_NE(read.error().message.find("base_latency_ns"), std::string::npos) << read.error().message;
}

INSTANTIATE_TEST_SUITE_P(Numbers, MalformedValue,
                         testing::Values("", "fast", "-1", "nan", "inf", "1e999", "12ns", "1,5", "\"163\"",
                                         "1e12"));

TEST(Calibration, IsRefusedInWordsThatATerminalPrints) {
  for (const char* text : {"\033[2J\n", "unstable = \033[2J\n"})
    EXPECT_EQ(parse_calibration(text).error().message.find('\033'), std::string::npos) << text;
}

TEST(Calibration, RefusesMalformedTextFlagsAndLines) {
  const std::string good = serialize(sample_calibration());
  EXPECT_FALSE(parse_calibration(replaced(good, "unstable = true", "unstable = 1")));
  EXPECT_FALSE(parse_calibration(replaced(good, "boot_id = \"", "boot_id = ")));
  EXPECT_FALSE(parse_calibration(replaced(good, "unstable = true", "unstable")));
}

TEST(Calibration, ATornFileIsAnError) {
  const std::string good = serialize(sample_calibration());
  for (std::size_t length = 0; length + 1 < good.size(); length += 7)
    EXPECT_FALSE(parse_calibration(good.substr(0, length))) << length;
}

}  // namespace
}  // namespace nvmemu
