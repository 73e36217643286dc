// SPDX-License-Identifier: Apache-2.0
#include "report/major_faults.h"

#include <gtest/gtest.h>

#include "output/test/example_run.h"
#include "report/figures.h"

namespace nvmemu::pmbench {
namespace {

using Basis = MajorFaults::Basis;

// 900 hits of 50 ns; 90 major faults of 8 us and 10 of 80 us.
RunResult paging_run() {
  RunResult result;
  result.seconds = 2;
  result.threads.resize(1);
  ThreadResult& thread = result.threads[0];
  thread.accesses = 1000;
  record(thread.reads, 50, 900);
  record(thread.writes, 8000, 90);
  record(thread.writes, 80000, 10);
  result.major_faults = 100;
  return result;
}

double value(const RunView& run, const char* key) {
  for (const Figure& figure : figures()) {
    if (std::string_view(figure.key) == key) return figure.of(run).value_or(-1);
  }
  ADD_FAILURE() << key;
  return 0;
}

TEST(MajorFaults, AreThoseThatWereSeen) {
  RunResult result = paging_run();
  record(result.threads[0].classes[2], 7000, 8);
  record(result.threads[0].classes[2], 70000, 2);
  const MajorFaults faults = major_faults_of(result, totals_of(result));
  EXPECT_EQ(faults.basis, Basis::kClassed);
  EXPECT_EQ(faults.count, 10);
  EXPECT_DOUBLE_EQ(faults.mean_ns, (8 * 7000 + 2 * 70000) / 10.0);
  EXPECT_NEAR(faults.mode_ns, 7000, 7000 * 0.017);
}

TEST(MajorFaults, AreElseTheSlowestAccesses) {
  const RunResult result = paging_run();
  const MajorFaults faults = major_faults_of(result, totals_of(result));
  EXPECT_EQ(faults.basis, Basis::kSlowestByRusage);
  EXPECT_EQ(faults.count, 100);
  EXPECT_NEAR(faults.mean_ns, (90 * 8000 + 10 * 80000) / 100.0, 15200 * 0.017);
  EXPECT_NEAR(faults.mode_ns, 8000, 8000 * 0.017);
}

TEST(MajorFaults, TakePartOfABucket) {
  RunResult result = paging_run();
  result.major_faults = 15;
  const MajorFaults faults = major_faults_of(result, totals_of(result));
  EXPECT_EQ(faults.count, 15);
  EXPECT_NEAR(faults.mean_ns, (5 * 8000 + 10 * 80000) / 15.0, 56000 * 0.017);
}

TEST(MajorFaults, AreNoMoreThanAllAccesses) {
  RunResult result = paging_run();
  result.major_faults = 5000;
  EXPECT_EQ(major_faults_of(result, totals_of(result)).count, 1000);
}

TEST(MajorFaults, OfTheOriginalAreCountedByVmstat) {
  RunResult result = paging_run();
  result.from_bands = true;
  EXPECT_EQ(major_faults_of(result, totals_of(result)).basis, Basis::kNone);
  result.snapshots = {example_snapshot("pre-run", 1000), example_snapshot("post-run", 1100)};
  EXPECT_EQ(major_faults_of(result, totals_of(result)).basis, Basis::kSlowestByVmstat);
}

TEST(Figures, AreThePapersTable2) {
  const RunView run = view_of(paging_run(), 5000);
  const double sum_ns = 900 * 50 + 90 * 8000 + 10 * 80000;
  EXPECT_DOUBLE_EQ(value(run, "accesses_per_s"), 500);
  EXPECT_DOUBLE_EQ(value(run, "mean_all_ns"), sum_ns / 1000);
  EXPECT_NEAR(value(run, "mean_major_fault_ns"), 15200, 15200 * 0.017);
  EXPECT_NEAR(value(run, "os_overhead_ns"), 15200 - 5000, 15200 * 0.017);
  EXPECT_NEAR(value(run, "os_overhead_share"), (15200 - 5000) / 5000.0, 0.06);
  EXPECT_DOUBLE_EQ(value(run, "time_over_100us_share"), 0);
}

TEST(Figures, NeedTheMediumForTheOverhead) {
  const RunView run = view_of(paging_run(), std::nullopt);
  EXPECT_EQ(value(run, "os_overhead_ns"), -1);
  EXPECT_NE(value(run, "mean_major_fault_ns"), -1);
}

TEST(Figures, ShareOutTheTime) {
  const RunView run = view_of(paging_run(), std::nullopt);
  const double sum_ns = 900 * 50 + 90 * 8000 + 10 * 80000;
  const double below = value(run, "time_below_500ns_share");
  const double faults = value(run, "time_3us_to_50us_share");
  const double slow = value(run, "time_50us_to_500us_share");
  EXPECT_NEAR(below, 900 * 50 / sum_ns, 0.02);
  EXPECT_NEAR(faults, 90 * 8000 / sum_ns, 0.02);
  EXPECT_NEAR(slow, 10 * 80000 / sum_ns, 0.02);
  EXPECT_DOUBLE_EQ(value(run, "time_above_500us_share"), 0);
  EXPECT_NEAR(below + value(run, "time_500ns_to_3us_share") + faults + slow, 1, 1e-9);
}

TEST(Figures, OfNothingAreUnknown) {
  const RunView run = view_of(RunResult{}, 5000);
  for (const Figure& figure : figures()) {
    const auto found = figure.of(run);
    EXPECT_TRUE(!found || *found == 0) << figure.key;
  }
}

}  // namespace
}  // namespace nvmemu::pmbench
