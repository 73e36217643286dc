// SPDX-License-Identifier: Apache-2.0
#include "areas/area_figures.h"

#include <gtest/gtest.h>

#include <cmath>

namespace nvmemu::pmbench {
namespace {

std::vector<double> on_line(const std::vector<AreaBandRange>& bands, double a, double b) {
  std::vector<double> medians;
  for (const AreaBandRange& band : bands) medians.push_back(a + b * std::log2(band.middle() / 1024));
  return medians;
}

TEST(SlopeFit, FindsWhatADoublingTakes) {
  const auto bands = area_bands(1 << 16);
  const auto fit = fit_slope(bands, {on_line(bands, 1500, 60), on_line(bands, 1700, 80)});
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->a_ns, 1600, 1e-6);
  EXPECT_NEAR(fit->b_ns, 70, 1e-6);
  ASSERT_TRUE(fit->b_half_width_95);
  EXPECT_NEAR(*fit->b_half_width_95, 12.706 * 10, 1e-3);  // Student's t of 1 degree, and the mean's error
}

TEST(SlopeFit, LeavesTheFirstBandOut) {
  const auto bands = area_bands(1 << 16);
  auto medians = on_line(bands, 1500, 0);
  medians.front() = 9000;
  EXPECT_NEAR(fit_slope(bands, {medians})->b_ns, 0, 1e-6);
  EXPECT_FALSE(fit_slope(bands, {medians})->b_half_width_95);
}

TEST(SlopeFit, IsNoneOfOneBand) { EXPECT_FALSE(fit_slope(area_bands(1000), {{1500}})); }

AreaRound round_of(std::uint64_t operations, std::uint32_t ticks, std::uint64_t areas, std::uint64_t bytes) {
  AreaRound round;
  round.finished = true;
  round.operations.assign(operations, ticks);
  round.areas_at_band_end.assign(area_bands(operations).size(), areas);
  round.slabs_before = {SlabSource::kSlabinfo, 1000};
  round.slabs_after = {SlabSource::kSlabinfo, 1000 + bytes};
  return round;
}

TEST(AreaFigures, AreMediansOfTheRoundsMedians) {
  AreaFigures figures({AreaPatternKind::kStrided, 4096, 1}, 1e9);
  for (const std::uint32_t ticks : {900U, 1000U, 5000U}) figures.add(round_of(4096, ticks, 4096, 4096 * 240));
  const VmaCase found = figures.figures();
  ASSERT_EQ(found.calls.size(), 1);
  EXPECT_EQ(found.calls[0].name, "mmap");
  ASSERT_EQ(found.calls[0].bands.size(), 3);
  EXPECT_EQ(found.calls[0].bands[2].median_ns, 1000);
  EXPECT_EQ(found.calls[0].bands[2].mean_ns, 2300);
  EXPECT_EQ(found.calls[0].bands[2].max_ns, 5000);
  EXPECT_EQ(found.calls[0].latencies.count, 3 * 4096);
  EXPECT_EQ(found.areas_at_end, 4096);
  ASSERT_TRUE(found.bytes_per_area);
  EXPECT_EQ(*found.bytes_per_area, 240);
  EXPECT_EQ(found.bytes_source, SlabSource::kSlabinfo);
}

TEST(AreaFigures, TellNoBytesOfFewAreas) {
  AreaFigures figures({AreaPatternKind::kCont, 4096, 1}, 1e9);
  figures.add(round_of(4096, 1000, 1, 100'000));
  EXPECT_FALSE(figures.figures().bytes_per_area);
}

}  // namespace
}  // namespace nvmemu::pmbench
