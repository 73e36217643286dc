// SPDX-License-Identifier: Apache-2.0
#include "run/runner.h"

#include <gtest/gtest.h>

#include <thread>

#include "measure/timer.h"

namespace nvmemu::pmbench {
namespace {

Options short_run() {
  Options options;
  options.duration_s = 0.2;
  options.map_mib = options.set_mib = 4;
  options.phases = {Phase{.seconds = 0.2}};
  options.timestamp = timer_hz(default_timestamp()) ? default_timestamp() : TimestampKind::kPerfCounter;
  return options;
}

RunResult result_of(const Options& options) {
  const Stop stop;
  Result<RunResult> result = run(options, stop);
  EXPECT_TRUE(result) << result.error().message;
  return result ? *std::move(result) : RunResult{};
}

TEST(Runner, EndsInTimeAndReportsAll) {
  const RunResult result = result_of(short_run());
  EXPECT_NEAR(result.seconds, 0.2, 0.1);
  EXPECT_FALSE(result.interrupted);
  ASSERT_EQ(result.threads.size(), 1);
  const ThreadResult& thread = result.threads[0];
  EXPECT_GT(thread.accesses, 1000);
  EXPECT_EQ(thread.reads.count + thread.writes.count, thread.accesses);
  EXPECT_EQ(thread.warmup_accesses, 4 * 1024);  // four rounds of a uniform pattern
  EXPECT_GT(thread.generating_ns, 0);
  EXPECT_LT(thread.generating_ns, thread.loop_ns);
  EXPECT_GT(thread.overhead_ns, 1);
  EXPECT_GT(result.timer_ns, 0);
  ASSERT_EQ(result.snapshots.size(), 5);
  const char* names[] = {"pre-warmup", "pre-run", "mid-run", "post-run", "post-unmap"};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(result.snapshots[i].name, names[i]);
  EXPECT_EQ(result.uuid.size(), 36);
  EXPECT_FALSE(result.machine.cpu_model.empty());
}

// In the original, a crash: the map is read-only while it is filled.
TEST(Runner, FillsAMapThatIsOnlyRead) {
  Options options = short_run();
  options.initialize = true;
  options.read_percent = 100;
  const RunResult result = result_of(options);
  EXPECT_EQ(result.threads.at(0).writes.count, 0);
  EXPECT_GT(result.initialize_seconds, 0);
}

TEST(Runner, ThreadsAreMeasuredApartAndTogether) {
  Options options = short_run();
  options.jobs = 3;
  const RunResult result = result_of(options);
  ASSERT_EQ(result.threads.size(), 3);
  std::uint64_t accesses = 0;
  for (const ThreadResult& thread : result.threads) {
    EXPECT_GT(thread.accesses, 0);
    EXPECT_EQ(thread.reads.count + thread.writes.count, thread.accesses);
    accesses += thread.accesses;
  }
  std::uint64_t in_series = 0;
  for (const SeriesPoint& point : result.series) in_series += point.accesses;
  EXPECT_EQ(in_series, accesses);
}

TEST(Runner, PhasesFollowOneAnother) {
  Options options = short_run();
  options.phases = {Phase{.pattern = "zipf", .seconds = 0.1}, Phase{.pattern = "sequential", .seconds = 0.1}};
  const RunResult result = result_of(options);
  ASSERT_EQ(result.series.size(), 2);
  EXPECT_EQ(result.series[0].phase, "zipf");
  EXPECT_NEAR(result.series[0].at_s, 0.1, 0.05);
  EXPECT_EQ(result.series[1].phase, "sequential");
  EXPECT_GT(result.series[1].accesses, 0);
}

TEST(Runner, AStopAtAnyTimeLeavesAPartialReport) {
  for (const double after_s : {0.0, 0.01, 0.1}) {
    Options options = short_run();
    options.duration_s = options.phases[0].seconds = 3600;
    options.set_mib = options.map_mib = 64;
    options.initialize = true;
    Stop stop;
    std::thread other([&] {
      static_cast<void>(stop.wait(after_s));
      stop.request();
    });
    const Result<RunResult> result = run(options, stop);
    other.join();
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_TRUE(result->interrupted);
    EXPECT_LT(result->seconds, 10);
    ASSERT_EQ(result->threads.size(), 1);
    EXPECT_EQ(result->threads[0].reads.count + result->threads[0].writes.count, result->threads[0].accesses);
  }
}

TEST(Runner, TouchRecordsNoHistogram) {
  Options options = short_run();
  options.access = AccessMode::kTouch;
  const RunResult result = result_of(options);
  EXPECT_GT(result.threads.at(0).accesses, 0);
  EXPECT_EQ(result.threads.at(0).reads.count, 0);
}

TEST(Runner, EveryKindOfMemoryIsMeasured) {
  const std::string file = testing::TempDir() + "/pmbench-runner-test";
  for (const MemoryKind kind :
       {MemoryKind::kAnonymous, MemoryKind::kFile, MemoryKind::kShared, MemoryKind::kMemfd}) {
    Options options = short_run();
    options.memory = kind;
    options.backing_file = file;
    EXPECT_GT(result_of(options).threads.at(0).accesses, 0) << static_cast<int>(kind);
  }
}

}  // namespace
}  // namespace nvmemu::pmbench
