// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "example_report.h"
#include "report/paging_fields.h"
#include "report/report_reader.h"

namespace nvmemu {
namespace {

constexpr double kPage = 4096, kYear = 365.25 * 86400;

PagingReport thousand_pages() {
  PagingReport paging{.dram_bytes = 1 << 28};
  paging.endurance = {.capacity_bytes = 4e9, .erase_cycles = 1e5, .erase_block_bytes = 131072};
  paging.written_pages = paging.sequential_written_pages = 1000;
  return paging;
}

TEST(Wear, IsCapacityTimesCyclesByWhatIsWritten) {
  const auto wear = wear_of(thousand_pages(), 10);
  ASSERT_TRUE(wear);
  EXPECT_DOUBLE_EQ(wear->written_bytes_per_day, 1000 * kPage / 10 * 86400);
  EXPECT_DOUBLE_EQ(wear->write_amplification, 1);
  EXPECT_DOUBLE_EQ(wear->years, 4e9 * 1e5 / (100 * kPage) / kYear);
}

TEST(Wear, WhatALogIsCleanedByIsWrittenToo) {
  PagingReport paging = thousand_pages();
  paging.random_written_pages = paging.cleaned_pages = 500;
  EXPECT_DOUBLE_EQ(wear_of(paging, 10)->write_amplification, 1.5);
  EXPECT_DOUBLE_EQ(wear_of(paging, 10)->years, wear_of(thousand_pages(), 10)->years / 1.5);
}

TEST(Wear, ABlockThatIsErasedForOnePageIsWornAsAWhole) {
  PagingReport paging = thousand_pages();
  paging.sequential_written_pages = 0;
  paging.random_written_pages = paging.erases = 1000;
  EXPECT_DOUBLE_EQ(wear_of(paging, 10)->write_amplification, 32);
}

TEST(Wear, NothingIsSaidOfWhatIsNotKnown) {
  PagingReport paging = thousand_pages();
  EXPECT_FALSE(wear_of(paging, 0));
  paging.written_pages = 0;
  EXPECT_FALSE(wear_of(paging, 10));
  paging = thousand_pages();
  paging.endurance.capacity_bytes = 0;
  EXPECT_FALSE(wear_of(paging, 10));
  paging = thousand_pages();
  paging.endurance.erase_cycles = 0;
  EXPECT_FALSE(wear_of(paging, 10));
}

TEST(Wear, IsInTheReportWithWhatItAssumes) {
  RunReport report = example_report();
  report.wall_seconds = 10;
  report.paging = thousand_pages();
  const auto paging = nlohmann::json::parse(to_json(report))["paging"];
  EXPECT_DOUBLE_EQ(paging["wear"]["years"].get<double>(), wear_of(report.paging, 10)->years);
  EXPECT_EQ(paging["wear"]["assumes"], kWearAssumes);
  EXPECT_DOUBLE_EQ(paging["written_bytes"].get<double>(), 1000 * kPage);
  const Result<RunReport> read = parse_report(to_json(report));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_json(*read), to_json(report));
  report.paging.endurance = {};
  EXPECT_TRUE(nlohmann::json::parse(to_json(report))["paging"]["wear"].is_null());
}

}  // namespace
}  // namespace nvmemu
