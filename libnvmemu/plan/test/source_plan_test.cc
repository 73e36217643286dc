// SPDX-License-Identifier: Apache-2.0
#include "plan/source_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "counters/pmu/catalogue.h"

namespace nvmemu {
namespace {

using testing::HasSubstr;

Cpu skylake() {
  Cpu cpu;
  cpu.signature = {.vendor = "GenuineIntel", .family = 6, .model = 85, .stepping = 4};
  return cpu;
}

PmuVerdict trusted() {
  PmuVerdict verdict;
  verdict.trusted = verdict.tested = verdict.episodes = true;
  verdict.why = "of a known chase, 1.00 misses a load";
  return verdict;
}

PmuVerdict refused(bool tested) {
  PmuVerdict verdict;
  verdict.tested = tested;
  verdict.why = "0 cycles counted";
  verdict.mend = "bare metal";
  return verdict;
}

TEST(PlanSource, TakesCountersThatHavePassedTheirTest) {
  for (const SourceChoice wanted : {SourceChoice::kAuto, SourceChoice::kPmu}) {
    const SourcePlan source = plan_source({.wanted = wanted, .has_sampler = true}, skylake(), trusted());
    EXPECT_EQ(source.name, "pmu");
    EXPECT_EQ(source.why, trusted().why);
    ASSERT_NE(source.design, nullptr);
    EXPECT_STREQ(source.design->name, "Skylake-SP");
    EXPECT_EQ(source.counts, kCountsStall | kCountsMisses | kCountsHits | kCountsEpisodes);
  }
}

Cpu ice_lake_sp() {
  Cpu cpu;
  cpu.signature = {.vendor = "GenuineIntel", .family = 6, .model = 0x6a, .stepping = 6};
  return cpu;
}

TEST(PlanSource, TakesCountersForBandwidthWhereTheyTellWhatIsMoved) {
  PmuVerdict verdict = trusted();
  verdict.traffic = true;
  const SourcePlan source = plan_source({.wanted = SourceChoice::kAuto, .traffic = true, .has_sampler = true},
                                        ice_lake_sp(), verdict);
  EXPECT_EQ(source.name, "pmu");
  EXPECT_STREQ(source.design->name, "Ice Lake-SP");
}

TEST(PlanSource, TakesTheSamplerForBandwidthElseAndSaysWhy) {
  PmuVerdict verdict = trusted();
  verdict.traffic = true;
  const SourcePlan without =
      plan_source({.wanted = SourceChoice::kAuto, .traffic = true, .has_sampler = true}, skylake(), verdict);
  EXPECT_EQ(without.name, "sampler");
  EXPECT_THAT(without.why, HasSubstr("the counters of Skylake-SP do not tell what is moved"));
  verdict.traffic = false;
  const SourcePlan failed = plan_source({.wanted = SourceChoice::kPmu, .traffic = true, .has_sampler = true},
                                        ice_lake_sp(), verdict);
  EXPECT_EQ(failed.name, "sampler");
  EXPECT_THAT(explain_substitute(failed), HasSubstr("failed their test"));
  EXPECT_EQ(plan_source({.wanted = SourceChoice::kAuto, .traffic = false, .has_sampler = true}, ice_lake_sp(),
                        verdict)
                .name,
            "pmu")
      << "latency alone needs no such events";
}

TEST(PlanSource, OffersNoEpisodesWhereTheyWereWrong) {
  PmuVerdict verdict = trusted();
  verdict.episodes = false;
  EXPECT_EQ(plan_source({.wanted = SourceChoice::kAuto, .has_sampler = true}, skylake(), verdict).counts &
                kCountsEpisodes,
            0U);
}

TEST(PlanSource, TakesTheSamplerElseAndSaysWhy) {
  const SourcePlan lied =
      plan_source({.wanted = SourceChoice::kAuto, .has_sampler = true}, skylake(), refused(true));
  EXPECT_EQ(lied.name, "sampler");
  EXPECT_EQ(lied.counts, kSamplerCounts);
  EXPECT_EQ(lied.design, nullptr);
  EXPECT_EQ(lied.why, "the hardware counters are not to be trusted: 0 cycles counted");
  const SourcePlan absent =
      plan_source({.wanted = SourceChoice::kPmu, .has_sampler = true}, skylake(), refused(false));
  EXPECT_THAT(absent.why, HasSubstr("cannot be used: 0 cycles"));
  EXPECT_THAT(explain_substitute(absent), HasSubstr("the sampler measures instead (to mend it: bare metal)"));
}

TEST(PlanSource, TakesTheSamplerThatWasAskedForWhateverTheCounters) {
  const SourcePlan source =
      plan_source({.wanted = SourceChoice::kSampler, .has_sampler = true}, skylake(), trusted());
  EXPECT_EQ(source.name, "sampler");
  EXPECT_EQ(source.why, "asked for");
}

TEST(PlanSource, TakesTheSamplerForTiersWhateverTheCounters) {
  const SourceNeeds needs{.tiers = true, .has_sampler = true};
  EXPECT_FALSE(needs.allow_counters());
  const SourcePlan source = plan_source(needs, skylake(), trusted());
  EXPECT_EQ(source.name, "sampler");
  EXPECT_THAT(source.why, HasSubstr("which tier"));
}

TEST(PlanSource, ARunNeedsTrafficWhereAnyMemoryIsLimitedOrItIsToBeTold) {
  Config config;
  EXPECT_FALSE(source_needs_of(config).traffic);
  EXPECT_FALSE(source_needs_of(config).tiers);
  config.stat = true;
  EXPECT_TRUE(source_needs_of(config).traffic);
  config.stat = false;
  config.memory.bandwidth.read_bps = 1e9;
  EXPECT_TRUE(source_needs_of(config).traffic);
  config.memory.bandwidth = {};
  const auto tiers = parse_tiers("far=2x,read-bandwidth=1GB/s");
  ASSERT_TRUE(tiers);
  config.tiers = *tiers;
  config.source = SourceChoice::kSampler;
  const SourceNeeds needs = source_needs_of(config);
  EXPECT_TRUE(needs.traffic && needs.tiers);
  EXPECT_EQ(needs.wanted, SourceChoice::kSampler);
}

TEST(PlanSource, HasNothingWhereThereIsNoSamplerEither) {
  const SourcePlan source =
      plan_source({.wanted = SourceChoice::kPmu, .has_sampler = false}, skylake(), refused(true));
  EXPECT_EQ(source.name, "none");
  EXPECT_EQ(source.counts, 0U);
  EXPECT_THAT(source.why, HasSubstr("no sampler decodes this processor's code"));
  EXPECT_THAT(explain_substitute(source), HasSubstr("the program runs natively"));
  EXPECT_EQ(plan_source({.wanted = SourceChoice::kSampler, .has_sampler = false}, skylake(), trusted()).name,
            "none");
}

}  // namespace
}  // namespace nvmemu
