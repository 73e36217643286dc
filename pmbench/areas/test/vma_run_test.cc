// SPDX-License-Identifier: Apache-2.0
#include "areas/vma_run.h"

#include <gtest/gtest.h>

#include "fake_mapper.h"

namespace nvmemu::pmbench {
namespace {

VmaOptions all_patterns() {
  VmaOptions options;
  options.operations = 4096;
  options.rounds = 3;
  for (const AreaPatternDescription& pattern : kAreaPatterns) options.patterns.push_back(pattern.kind);
  return options;
}

TEST(VmaRun, TakesThePatternsInTurnRoundAfterRound) {
  std::vector<std::string> shown;
  const AreaRunSeams seams{[] { return SlabReading{}; },
                           {.kind = TimestampKind::kPerfCounter, .hz = 1e9, .cost = {}},
                           [&](const std::string& what) { shown.push_back(what); }};
  FakeMapper mapper;
  mapper.ticks_an_area = 1;
  const Stop stop;
  VmaResult result;
  ASSERT_TRUE(measure_areas(all_patterns(), mapper, seams, stop, result));
  ASSERT_EQ(shown.size(), 12);
  EXPECT_EQ(shown[0], "round 1 of 3: cont");
  EXPECT_EQ(shown[5], "round 2 of 3: strided");
  ASSERT_EQ(result.cases.size(), 4);
  for (const VmaCase& one : result.cases) EXPECT_EQ(one.rounds, 3);
  EXPECT_EQ(result.cases[0].calls[0].bands.back().median_ns, 1001);
  EXPECT_NEAR(result.cases[0].calls[0].fit->b_ns, 0, 1e-6);
  EXPECT_GT(result.cases[1].calls[0].fit->b_ns, 100);
  EXPECT_EQ(result.cases[3].calls[0].name, "mremap");
}

TEST(VmaRun, HasWhatItMeasuredBeforeItWasStopped) {
  Stop stop;
  unsigned shown = 0;
  const AreaRunSeams seams{[] { return SlabReading{}; },
                           {},
                           [&](const std::string&) {
                             if (++shown == 3) stop.request();
                           }};
  FakeMapper mapper;
  VmaResult result;
  ASSERT_TRUE(measure_areas(all_patterns(), mapper, seams, stop, result));
  EXPECT_TRUE(result.interrupted);
  ASSERT_EQ(result.cases.size(), 4);
  EXPECT_EQ(result.cases[1].rounds, 1);
  EXPECT_EQ(result.cases[2].rounds, 0);
}

}  // namespace
}  // namespace nvmemu::pmbench
