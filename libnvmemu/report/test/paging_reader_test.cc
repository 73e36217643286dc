// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "board_files.h"
#include "report/paging_fields.h"
#include "report/run_report.h"

namespace nvmemu {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class PagingReader : public BoardTest {
 protected:
  RunReport read(double dram_bytes) {
    RunReport report;
    report.paging.dram_bytes = dram_bytes;
    read_board(*board_, report);
    return report;
  }
};

TEST_F(PagingReader, TellsFaultsByTheirKind) {
  PagingTally& tally = board_->paging();
  tally.first_touches = 3;
  tally.hard_faults = 2;
  tally.hard_ns = 3000;
  tally.hard.add(1000);
  tally.hard.add(2000);
  tally.most_dram_pages = 5;
  const PagingReport paging = read(1 << 20).paging;
  EXPECT_EQ(paging.first.faults, 3U);
  EXPECT_EQ(paging.hard.faults, 2U);
  EXPECT_EQ(paging.hard.mean_ns, 1500);
  EXPECT_NEAR(paging.hard.median_ns, 1000, 1000. / 8);
  EXPECT_NEAR(paging.hard.p99_ns, 2000, 2000. / 8);
  ASSERT_EQ(paging.hard.histogram.size(), 2U);
  EXPECT_LE(paging.hard.histogram[1].begin_ns, 2000);
  EXPECT_GT(paging.hard.histogram[1].end_ns, 2000);
  EXPECT_EQ(paging.soft.faults, 0U);
  EXPECT_EQ(paging.most_dram_bytes, 5 * 4096);
}

TEST_F(PagingReader, TellsTheTimesOfEachKindOfFault) {
  PagingTally& tally = board_->paging();
  tally.add_first_touch(1000);
  tally.add_soft_fault(2000);
  tally.add_hard_fault(3000);
  tally.add_write_fault(500);
  tally.add_write_fault(700);
  const PagingReport paging = read(1 << 20).paging;
  EXPECT_EQ(paging.first.mean_ns, 1000);
  EXPECT_EQ(paging.soft.mean_ns, 2000);
  EXPECT_EQ(paging.hard.mean_ns, 3000);
  EXPECT_EQ(paging.write_faults, 2U);
  EXPECT_EQ(paging.write.faults, 2U);
  EXPECT_EQ(paging.write.mean_ns, 600);
  EXPECT_EQ(paging.write.histogram.size(), 2U);
}

TEST_F(PagingReader, TellsWaitsForTheDeviceApart) {
  for (const std::uint64_t ns : {5000, 5000, 20000}) board_->paging().add_device_wait(ns);
  const PagingReport paging = read(1 << 20).paging;
  EXPECT_EQ(paging.device_waits.faults, 3U);
  EXPECT_EQ(paging.device_waits.mean_ns, 10000);
  EXPECT_NEAR(paging.device_waits.median_ns, 5000, 5000. / 8);
}

TEST_F(PagingReader, QuantilesOfSeveralRunsAreThoseOfAllTheirFaults) {
  PagingTally& tally = board_->paging();
  tally.hard_faults = 3;
  tally.hard_ns = 3000;
  for (int i = 0; i < 3; ++i) tally.hard.add(1000);
  PagingReport sum;
  add_paging(read(1 << 20).paging, sum);
  tally.hard_faults = 10;
  tally.hard_ns = 17000;
  for (int i = 0; i < 7; ++i) tally.hard.add(2000);
  add_paging(read(1 << 20).paging, sum);
  EXPECT_EQ(sum.hard.faults, 13U);
  EXPECT_NEAR(sum.hard.mean_ns, 20000. / 13, 1e-9);
  EXPECT_NEAR(sum.hard.median_ns, 2000, 2000. / 8);  // 6 and 7
  EXPECT_EQ(sum.hard.histogram.size(), 2U);
}

TEST_F(PagingReader, HasNothingOfARunThatIsNotPaged) {
  board_->paging().hard_faults = 2;
  board_->paging().surprises = 1;
  const RunReport report = read(0);
  EXPECT_EQ(report.paging.hard.faults, 0U);
  EXPECT_THAT(report.warnings, Not(Contains(HasSubstr("pager"))));
}

TEST_F(PagingReader, WarnsOfWhatWentWrong) {
  const struct {
    PagingTally::Count& count;
    const char* warning;
  } kCases[] = {{board_->paging().failed_writes, "could not be written to"},
                {board_->paging().failed_reads, "got SIGBUS"},
                {board_->paging().surprises, "is not to be trusted"}};
  for (const auto& [count, warning] : kCases) {
    EXPECT_THAT(read(1 << 20).warnings, Not(Contains(HasSubstr(warning))));
    count = 1;
    EXPECT_THAT(read(1 << 20).warnings, Contains(HasSubstr(warning)));
  }
}

}  // namespace
}  // namespace nvmemu
