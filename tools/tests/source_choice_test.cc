// SPDX-License-Identifier: Apache-2.0
#include "source_choice.h"

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

TEST(ChooseSource, TakesCountersThatHavePassedTheirTest) {
  for (const SourceChoice wanted : {SourceChoice::kAuto, SourceChoice::kPmu}) {
    const ChosenSource source = choose_source(wanted, skylake(), trusted(), true);
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

TEST(ChooseSource, TakesCountersForBandwidthWhereTheyTellWhatIsMoved) {
  PmuVerdict verdict = trusted();
  verdict.traffic = true;
  const ChosenSource source = choose_source(SourceChoice::kAuto, ice_lake_sp(), verdict, true, true);
  EXPECT_EQ(source.name, "pmu");
  EXPECT_STREQ(source.design->name, "Ice Lake-SP");
}

TEST(ChooseSource, TakesTheSamplerForBandwidthElseAndSaysWhy) {
  PmuVerdict verdict = trusted();
  verdict.traffic = true;
  const ChosenSource without = choose_source(SourceChoice::kAuto, skylake(), verdict, true, true);
  EXPECT_EQ(without.name, "sampler");
  EXPECT_THAT(without.why, HasSubstr("the counters of Skylake-SP do not tell what is moved"));
  verdict.traffic = false;
  const ChosenSource failed = choose_source(SourceChoice::kPmu, ice_lake_sp(), verdict, true, true);
  EXPECT_EQ(failed.name, "sampler");
  EXPECT_THAT(explain_substitute(failed), HasSubstr("failed their test"));
  EXPECT_EQ(choose_source(SourceChoice::kAuto, ice_lake_sp(), verdict, true, false).name, "pmu")
      << "latency alone needs no such events";
}

TEST(ChooseSource, OffersNoEpisodesWhereTheyWereWrong) {
  PmuVerdict verdict = trusted();
  verdict.episodes = false;
  EXPECT_EQ(choose_source(SourceChoice::kAuto, skylake(), verdict, true).counts & kCountsEpisodes, 0U);
}

TEST(ChooseSource, TakesTheSamplerElseAndSaysWhy) {
  const ChosenSource lied = choose_source(SourceChoice::kAuto, skylake(), refused(true), true);
  EXPECT_EQ(lied.name, "sampler");
  EXPECT_EQ(lied.counts, kSamplerCounts);
  EXPECT_EQ(lied.design, nullptr);
  EXPECT_EQ(lied.why, "the hardware counters are not to be trusted: 0 cycles counted");
  const ChosenSource absent = choose_source(SourceChoice::kPmu, skylake(), refused(false), true);
  EXPECT_THAT(absent.why, HasSubstr("cannot be used: 0 cycles"));
  EXPECT_THAT(explain_substitute(absent), HasSubstr("the sampler measures instead (to mend it: bare metal)"));
}

TEST(ChooseSource, TakesTheSamplerThatWasAskedForWhateverTheCounters) {
  const ChosenSource source = choose_source(SourceChoice::kSampler, skylake(), trusted(), true);
  EXPECT_EQ(source.name, "sampler");
  EXPECT_EQ(source.why, "asked for");
}

TEST(ChooseSource, HasNothingWhereThereIsNoSamplerEither) {
  const ChosenSource source = choose_source(SourceChoice::kPmu, skylake(), refused(true), false);
  EXPECT_EQ(source.name, "none");
  EXPECT_EQ(source.counts, 0U);
  EXPECT_THAT(source.why, HasSubstr("no sampler decodes this processor's code"));
  EXPECT_THAT(explain_substitute(source), HasSubstr("the program runs natively"));
  EXPECT_EQ(choose_source(SourceChoice::kSampler, skylake(), trusted(), false).name, "none");
}

}  // namespace
}  // namespace nvmemu
