// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/run_report.h"

namespace nvmemu {
namespace {

using testing::HasSubstr;
using testing::Not;

RunReport example() {
  RunReport report;
  report.wall_seconds = 2.94;
  report.source_name = "sampler";
  report.ticker = "perf_event";
  report.model = "stall";
  report.base_read_latency_ns = 163;
  report.target.read_latency_ns = 326;
  report.totals.threads = 1;
  report.totals.epochs = 12;
  report.totals.cpu_ns = 2.9e9;
  report.totals.stall_ns = 1.2e9;
  report.totals.injected_ns = 1.15e9;
  report.processes = {{100, 1, "app", true, {}}};
  report.error_relative_95 = 0.031;
  report.error_from = "1200 samples";
  return report;
}

TEST(Summary, SaysWhatWasEmulatedAndHowSureThatIs) {
  EXPECT_EQ(summary(example()),
            "nvmemu: read latency 163 ns -> 326 ns, by sampler (perf_event), model stall\n"
            "nvmemu: 2.94 s of wall time; of 2.9 s of CPU time 1.2 s waited for memory; 1.15 s injected, in "
            "12 epochs of 1 "
            "thread in 1 process\n"
            "nvmemu: error of the delay: +-3.1 % (95 %), from 1200 samples\n");
}

TEST(Summary, SaysWhatEndsManyWalks) {
  RunReport report = example();
  report.walks = {.walks = 1000, .instructions = 2'000'000, .passed = {}, .ended_by = {{"new code", 60}}};
  EXPECT_THAT(summary(report), Not(HasSubstr("walks")));
  report.walks.ended_by["system call"] = 240;
  EXPECT_THAT(summary(report), HasSubstr("300 of 1000 walks ended early: 240 system call, 60 new code\n"));
}

TEST(Summary, SaysWhetherPagesAreOutOfDram) {
  RunReport report = example();
  report.paging = {.dram_bytes = 1 << 28, .page_to = "/mnt/scratch", .device = "optane-ssd"};
  EXPECT_THAT(summary(report), HasSubstr("the rest on optane-ssd (/mnt/scratch): at most"));
  report.paging.store = "direct";
  EXPECT_THAT(summary(report), HasSubstr("(/mnt/scratch, past the page cache)"));
  report.paging.store = "page-cache";
  EXPECT_THAT(summary(report), HasSubstr("(/mnt/scratch, in the page cache)"));
  report.paging.store = "memory";
  EXPECT_THAT(summary(report), HasSubstr("(/mnt/scratch, in memory)"));
}

TEST(Summary, SaysWhatWasMovedWhereThatWasMeasured) {
  RunReport report = example();
  EXPECT_THAT(summary(report), Not(HasSubstr("memory: read")));
  report.bandwidth.is_measured = true;
  report.bandwidth.by = "governor";
  report.bandwidth.read_bytes = 3 << 20;
  report.bandwidth.read_reached_bps = 3.9e9;
  report.target.read_bandwidth_bps = 4e9;
  report.bandwidth.held_ns = 1.5e9;
  report.bandwidth.error_relative_95 = 0.1;
  report.bandwidth.error_from = "70 samples";
  EXPECT_THAT(
      summary(report),
      HasSubstr("nvmemu: memory: read 3 MiB, 3.9 GB/s when busy (target 4 GB/s); written 0 B; limited by "
                "governor, held 1.5 s\nnvmemu: error of the bytes: +-10 % (95 %), from 70 samples\n"));
}

TEST(Summary, ShowsTheCourseOfALongRunInAFewFigures) {
  RunReport report = example();
  report.bandwidth.is_measured = true;
  report.bandwidth.over_time.step_seconds = 0.1;
  for (int i = 0; i < 30; ++i) report.bandwidth.over_time.steps.push_back({i < 15 ? 1e8 : 2e8, 5e7, 0});
  EXPECT_THAT(summary(report),
              HasSubstr("nvmemu: GB/s over time, 300 ms each: read 1.0 1.0 1.0 1.0 1.0 2.0 2.0 "
                        "2.0 2.0 2.0; written 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5\n"));
}

TEST(Summary, GivesNoQuartilesOfAFewWindows) {
  RunReport report = example();
  report.alternation.window_seconds = 0.5;
  report.alternation.slowdown = {2.864, 2.864, 2.864, 1};
  EXPECT_THAT(summary(report), HasSubstr("x2.864 slower, the median of 1 against their neighbours (too few"));
  report.alternation.slowdown->windows = 4;
  EXPECT_THAT(summary(report), HasSubstr("(quartiles x2.864 to x2.864)"));
}

TEST(Summary, NamesTheProfile) {
  RunReport report = example();
  report.target_profile = "optane-dcpmm";
  EXPECT_THAT(summary(report), HasSubstr("326 ns (optane-dcpmm)"));
}

TEST(Summary, NeverShowsAnUnknownErrorAsANumber) {
  RunReport report = example();
  report.error_relative_95.reset();
  report.error_from = "nothing was measured";
  EXPECT_THAT(summary(report), HasSubstr("error of the delay: unknown: nothing was measured\n"));
}

TEST(Summary, ShowsNoFiguresWhereTheProgramRanNatively) {
  RunReport report = example();
  report.processes.clear();
  report.warnings = {"the program ran natively"};
  EXPECT_THAT(summary(report), Not(HasSubstr("injected")));
  EXPECT_THAT(summary(report), HasSubstr("nvmemu: warning: the program ran natively\n"));
}

}  // namespace
}  // namespace nvmemu
