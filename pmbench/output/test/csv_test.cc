// SPDX-License-Identifier: Apache-2.0
#include "output/csv.h"

#include <gtest/gtest.h>

#include "example_run.h"

namespace nvmemu::pmbench {
namespace {

TEST(CsvField, QuotesWhatWouldEndIt) {
  EXPECT_EQ(csv_field("plain text"), "plain text");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"a\"\n"), "\"say \"\"a\"\"\n\"");
}

TEST(Csv, HasTheHistogramOfAllThreads) {
  EXPECT_EQ(to_csv(example_run()),
            "begin_ns,end_ns,reads,writes,classed_hits,classed_minor_faults,classed_major_faults\n"
            "100,102,300,0,4,0,0\n"
            "296,304,0,300,0,0,0\n"
            "9216,9472,300,0,0,0,2\n"
            "11796480,12058624,0,300,0,0,0\n");
}

TEST(Csv, LeavesTheLastBucketWithoutEnd) {
  RunResult result;
  result.threads.resize(1);
  record(result.threads[0].writes, std::uint64_t{1} << 40);
  EXPECT_NE(to_csv(result).find("\n67645734912,,0,1,0,0,0\n"), std::string::npos) << to_csv(result);
}

TEST(SeriesCsv, HasALineForEachSecondAndAColumnForEachCounter) {
  RunResult result = example_run();
  result.series[1].phase = "zipf,hot";
  result.series[1].counters = {{"psi.memory.some_us", 0.25}, {"cgroup.memory.current", 4096}};
  EXPECT_EQ(to_series_csv(result),
            "at_s,seconds,phase,accesses,accesses_per_s,p50_ns,p99_ns,max_ns,minor_faults,major_faults,"
            "vmstat.pswpin,psi.memory.some_us,cgroup.memory.current\n"
            "1.000,1.000,uniform,600,600.0,150.0,9000.0,12000000.0,3,500,500,12.5,\n"
            "2.000,1.000,\"zipf,hot\",900,900.0,150.0,9000.0,12000000.0,3,500,,0.25,4096\n");
}

TEST(WriteCsv, SaysWhyItCannot) {
  EXPECT_EQ(write_csv(example_run(), "/nowhere/a.csv").error().message,
            "cannot write /nowhere/a.csv: No such file or directory");
  EXPECT_FALSE(write_series_csv(example_run(), "/nowhere/a.csv"));
}

}  // namespace
}  // namespace nvmemu::pmbench
