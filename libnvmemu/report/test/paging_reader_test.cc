// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "board_files.h"
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
  EXPECT_EQ(paging.soft.faults, 0U);
  EXPECT_EQ(paging.most_dram_bytes, 5 * 4096);
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
