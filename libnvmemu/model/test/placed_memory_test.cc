// SPDX-License-Identifier: Apache-2.0
#include "model/placed_memory.h"

#include <gtest/gtest.h>

#include <cmath>

#include "model/prediction.h"
#include "tier/region_heat.h"

namespace nvmemu {
namespace {

constexpr double kRegion = RegionHeat::kRegionBytes;
constexpr double kWhole = RegionHeat::kWhole;
constexpr double kStallNs = 60e6;

// So many misses, which all measurements have alike.
RecordedRegion region(std::uint64_t number, double misses, std::uint32_t process = 0) {
  RecordedRegion made;
  made.process = process;
  made.address = number << RegionHeat::kRegionBits;
  made.waited.fill(misses / RegionHeat::kParts * kWhole);
  made.misses = misses;
  made.resident_bytes = kRegion;
  made.mapping_begin = number << RegionHeat::kRegionBits;
  made.mapping_end = (number + 1) << RegionHeat::kRegionBits;
  return made;
}

void add_epoch(Record& record, std::uint32_t process, double stall_ns) {
  RecordedEpoch epoch{{process, process, 0}, 0, 100e6, {}};
  epoch.counts.cpu_ns = 100e6;
  epoch.counts.stall_ns = stall_ns;
  epoch.counts.stall_samples = 60;
  record.epochs.push_back(epoch);
}

Record record(std::vector<RecordedRegion> regions) {
  Record made;
  made.info.counts = kSamplerCounts;
  made.info.base_ns = 100;
  made.wall_ns = 100e6;
  made.regions = std::move(regions);
  add_epoch(made, 0, kStallNs);
  return made;
}

// A cold one, then a hot one.
Record cold_and_hot() { return record({region(1, 100), region(2, 900)}); }

TEST(PlacedMemory, PutsTheHottestIntoWhatThereIs) {
  const PlacedMemory memory(cold_and_hot());
  EXPECT_EQ(memory.regions(), 2U);
  EXPECT_EQ(memory.bytes(), 2 * kRegion);
  EXPECT_EQ(memory.unknown_share(), 0);
  EXPECT_EQ(memory.misses(), 1000);
  EXPECT_NEAR(memory.hottest(0).of_all, 1, 1e-12);
  EXPECT_NEAR(memory.hottest(kRegion / 2).of_all, 0.55, 1e-12);
  EXPECT_NEAR(memory.hottest(kRegion).of_all, 0.1, 1e-12);
  EXPECT_NEAR(memory.hottest(kRegion).of(0), 0.1, 1e-12);
  EXPECT_NEAR(memory.hottest(2 * kRegion).of_all, 0, 1e-12);
  EXPECT_NEAR(memory.hottest(1e15).of_all, 0, 1e-12);
}

TEST(PlacedMemory, PutsThereWhatWasThereFirst) {
  const PlacedMemory memory(cold_and_hot());
  EXPECT_NEAR(memory.first_touched(0).of_all, 1, 1e-12);
  EXPECT_NEAR(memory.first_touched(kRegion).of_all, 0.9, 1e-12);
  EXPECT_NEAR(memory.first_touched(1.5 * kRegion).of_all, 0.45, 1e-12);
  EXPECT_NEAR(memory.first_touched(2 * kRegion).of_all, 0, 1e-12);
}

TEST(PlacedMemory, PutsFilesElsewhere) {
  Record made = record({region(1, 100), region(2, 600), region(3, 300)});
  made.regions[0].mapping = "/data/a";
  made.regions[1].mapping = "/data/b/c";
  made.regions[2].mapping = "/database";
  const PlacedMemory memory(made);
  EXPECT_NEAR(memory.of_files({"/data"}).of_all, 0.7, 1e-12);
  EXPECT_NEAR(memory.of_files({"/data/a", "/database"}).of_all, 0.4, 1e-12);
  EXPECT_EQ(memory.of_files({"/dat"}).of_all, 0);
  EXPECT_GT(memory.of_files({"/data"}).error_95, 0);
  EXPECT_TRUE(memory.knows_files({"/none", "/data/b"}));
  EXPECT_FALSE(memory.knows_files({"/dat"}));
}

TEST(PlacedMemory, PagesInTurnAreWaitedForByHowManyThereAre) {
  const SlowShare share = PlacedMemory(cold_and_hot()).interleaved(0.25);
  EXPECT_EQ(share.of_all, 0.25);
  EXPECT_EQ(share.of(7), 0.25);
  EXPECT_EQ(share.error_95, 0);
}

TEST(PlacedMemory, TakesRoomOnlyForWhatIsThere) {
  Record made = cold_and_hot();
  made.regions[0].resident_bytes = kRegion / 4;
  const PlacedMemory memory(made);
  EXPECT_EQ(memory.bytes(), 1.25 * kRegion);
  EXPECT_NEAR(memory.first_touched(kRegion / 4).of_all, 0.9, 1e-12);
  made.regions[0].resident_bytes = 0;  // nobody has looked
  EXPECT_EQ(PlacedMemory(made).bytes(), 2 * kRegion);
}

TEST(PlacedMemory, WhatIsNotWaitedForTakesRoomOfWhatIsThereFirst) {
  const PlacedMemory memory(record({region(1, 0), region(2, 500)}));
  EXPECT_NEAR(memory.first_touched(kRegion).of_all, 1, 1e-12);
  EXPECT_NEAR(memory.hottest(kRegion).of_all, 0, 1e-12);
}

// Of a hundred regions that are alike, each with one miss by chance in the even measurements or in the odd:
// one half tells nothing of the other. Together they seem to say that half of the memory is all that is
// needed.
TEST(PlacedMemory, DoesNotTakeChanceForHeat) {
  std::vector<RecordedRegion> regions;
  for (std::uint64_t number = 0; number < 100; ++number) {
    regions.push_back(region(number, number % 4 < 2 ? 1 : 0));
    regions.back().waited = {number % 4 == 0 ? kWhole : 0, number % 4 == 1 ? kWhole : 0};
  }
  const SlowShare share = PlacedMemory(record(std::move(regions))).hottest(50 * kRegion);
  EXPECT_GT(share.of_all, 0.2);
  EXPECT_LT(share.of_all - share.error_95, 0.05);
  EXPECT_GT(share.of_all + share.error_95, 0.5);
}

TEST(PlacedMemory, TheErrorIsThatOfMissesThatFallByChance) {
  const double p = (1000 * 0.9 + 2) / 1004;
  EXPECT_NEAR(PlacedMemory(cold_and_hot()).first_touched(kRegion).error_95,
              1.96 * std::sqrt(p * (1 - p) / 1004), 1e-12);
  EXPECT_GT(PlacedMemory(record({region(1, 20)})).first_touched(kRegion).error_95, 0.05);  // never 0
}

// Four of eight measurements say 0.8 and four say 1.
TEST(PlacedMemory, OrThatOfMeasurementsThatDiffer) {
  Record made = cold_and_hot();
  for (std::size_t part = 0; part < RegionHeat::kParts; ++part) {
    made.regions[0].waited[part] = part < 4 ? 200 : 0;
    made.regions[1].waited[part] = part < 4 ? 800 : 1000;
  }
  EXPECT_NEAR(PlacedMemory(made).first_touched(kRegion).error_95, 2.36 * std::sqrt(8 * 0.01 / (8 * 7)), 1e-9);
}

TEST(PlacedMemory, OneMeasurementTellsNothingOfItsError) {
  Record made = cold_and_hot();
  for (RecordedRegion& one : made.regions) one.waited = {one.waited[0]};
  EXPECT_NEAR(PlacedMemory(made).first_touched(kRegion).error_95, 0.9, 1e-12);
}

TEST(PlacedMemory, WhatIsUnknownMayBeInEither) {
  Record made = cold_and_hot();
  add_epoch(made, 1, kStallNs / 3);  // of a process without addresses
  const PlacedMemory memory(made);
  EXPECT_NEAR(memory.unknown_share(), 0.25, 1e-12);
  const SlowShare share = memory.first_touched(kRegion);
  EXPECT_NEAR(share.of(1), 0.9, 1e-12);
  EXPECT_GT(share.error_95, 0.25 * 0.9);
  made.elsewhere = 1000 * kWhole;
  EXPECT_NEAR(PlacedMemory(made).unknown_share(), 1 - 0.75 * 0.5, 1e-12);
}

TEST(PlacedMemory, ProcessesShareIt) {
  Record made = record({region(1, 100, 0), region(1, 1000, 1)});
  add_epoch(made, 1, kStallNs / 2);  // its samples weigh less
  const SlowShare share = PlacedMemory(made).hottest(kRegion);
  EXPECT_NEAR(share.of(0), 0, 1e-12);
  EXPECT_NEAR(share.of(1), 1, 1e-12);
  EXPECT_NEAR(share.of_all, 1.0 / 3, 1e-12);
}

TEST(PlacedMemory, RanksMappings) {
  Record made = record({region(1, 100), region(2, 200), region(7, 400), region(9, 50), region(11, 60)});
  made.regions[3].mapping = made.regions[4].mapping = "/data";
  const std::vector<WaitedMapping> mappings = PlacedMemory(made).mappings();
  ASSERT_EQ(mappings.size(), 3U);
  EXPECT_EQ(mappings[0].begin, std::uint64_t{7} << RegionHeat::kRegionBits);
  EXPECT_NEAR(mappings[0].stall_ns, kStallNs * 400 / 810, 1);
  EXPECT_EQ(mappings[1].bytes, 2 * kRegion);  // they touch: one mapping, that has grown
  EXPECT_EQ(mappings[2].name, "/data");
}

TEST(PlacedMemory, OfARecordWithoutAddressesNothingIsKnown) {
  const PlacedMemory memory(record({}));
  EXPECT_EQ(memory.misses(), 0);
  EXPECT_EQ(memory.unknown_share(), 1);
  EXPECT_GE(memory.hottest(kRegion).error_95, 1);
  EXPECT_EQ(PlacedMemory(Record{}).unknown_share(), 0);
}

// Delays in proportion to what is waited for in the slow one, and errors of that beside the delay's own.
TEST(PlacedMemory, IsPredictedFrom) {
  const Record made = cold_and_hot();
  const SlowShare share = PlacedMemory(made).first_touched(kRegion);
  ReadLatency latency{.base_ns = 100, .target_ns = 100};
  latency.tier_target_ns[1] = 300;
  const Prediction found = predict(made, stall_delay_ns, latency, share);
  EXPECT_NEAR(found.delay.expected_ns, 0.9 * 2 * kStallNs, 1);
  const double own = *prediction_error(made).relative_95 * found.delay.expected_ns;
  EXPECT_NEAR(*delay_error_ns(made, stall_delay_ns, latency, share),
              std::hypot(own, share.error_95 * 2 * kStallNs), 1);
  EXPECT_NEAR(*delay_error_ns(made, stall_delay_ns, latency, {{}, 0.5, 0.5, 0}),
              *prediction_error(made).relative_95 * kStallNs, 1);
}

}  // namespace
}  // namespace nvmemu
