// SPDX-License-Identifier: Apache-2.0
#include "report/progress_log.h"

#include <gtest/gtest.h>

namespace nvmemu {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

TEST(FirstNumber, IsFoundInText) {
  EXPECT_EQ(first_number("1500\n"), 1500);
  EXPECT_EQ(first_number("requests: 1500 of 9000"), 1500);
  EXPECT_EQ(first_number("{\"done\": 1.5e3}"), 1500);
  EXPECT_EQ(first_number("-7"), 7);
}

TEST(FirstNumber, IsNoneWhereThereIsNoneThatCouldBeCounted) {
  for (const char* text : {"", "soon", "1e16", "1e999", "99999999999999999999"})
    EXPECT_FALSE(first_number(text)) << text;
}

TEST(ProgressLog, CountsFromWhereItIsFirstSeen) {
  ProgressLog log;
  EXPECT_FALSE(log.has_seen());
  log.see(1 * kSecond, 500);
  log.see(2 * kSecond, 700);
  EXPECT_TRUE(log.has_seen());
  EXPECT_EQ(log.changes(), 1u);
  EXPECT_EQ(log.done_at(0), 0);
  EXPECT_EQ(log.done_at(1 * kSecond), 0);
  EXPECT_EQ(log.done_at(9 * kSecond), 200);
}

TEST(ProgressLog, GrowsEvenlyFromChangeToChange) {
  ProgressLog log;
  log.see(0, 0);
  log.see(1 * kSecond, 0);  // nothing new
  log.see(2 * kSecond, 100);
  EXPECT_EQ(log.changes(), 1u);
  EXPECT_EQ(log.done_at(kSecond / 2), 25);
  EXPECT_EQ(log.done_at(kSecond), 50);
}

TEST(ProgressLog, CountsOnWhereTheNumberBeginsAnew) {
  ProgressLog log;
  log.see(0, 0);
  log.see(1 * kSecond, 100);
  log.see(2 * kSecond, 10);
  log.see(3 * kSecond, 40);
  EXPECT_EQ(log.done_at(3 * kSecond), 130);
}

TEST(TakeProgress, GivesEachWindowWhatWasDoneInIt) {
  AlternationReport alternation;
  ProgressLog log;
  std::uint64_t now = 70 * kSecond;
  double value = 1000;
  log.see(now, value);
  for (int i = 0; i < 5; ++i) {
    const bool delays = i % 2 == 1;
    alternation.windows.push_back(
        {.delays = delays, .begin_seconds = 20.0 + i, .seconds = 1, .progress = 7, .measuring = 0});
    for (int step = 0; step < 10; ++step) log.see(now += kSecond / 10, value += delays ? 10 : 25);
  }
  take_progress_from(log, 50 * kSecond, alternation);
  EXPECT_NEAR(alternation.windows[0].progress, 250, 1e-6);
  EXPECT_NEAR(alternation.windows[3].progress, 100, 1e-6);
  ASSERT_TRUE(alternation.slowdown);
  EXPECT_NEAR(alternation.slowdown->median, 2.5, 1e-6);
}

}  // namespace
}  // namespace nvmemu
