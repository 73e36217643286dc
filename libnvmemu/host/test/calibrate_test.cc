// SPDX-License-Identifier: Apache-2.0
// Wide bounds only: what is checked is that each figure is of what it says, not how fast this machine is.
#include "host/calibrate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "host/timed_load.h"

namespace nvmemu {
namespace {

TEST(Calibrate, OrdersTheLatenciesOfTheMemoryHierarchy) {
  const Cpu cpu = read_cpu();
  if (cpu.memory_bytes < (std::uint64_t{512} << 20)) GTEST_SKIP() << "needs 512 MiB of memory";
  std::map<std::string, double, std::less<>> spreads;
  std::vector<double> progress;
  CalibrateOptions options;
  options.repetitions = 1;
  options.bandwidth = false;
  options.progress = [&](std::string_view, double done) { progress.push_back(done); };
  options.measured = [&](std::string_view key, double spread) { spreads.emplace(key, spread); };
  const auto measured = calibrate(cpu, Clock::calibrate(), options);
  ASSERT_TRUE(measured) << measured.error().message;

  EXPECT_GT(measured->cache_latency_ns, 1);
  EXPECT_GT(measured->base_latency_ns, measured->cache_latency_ns);
  EXPECT_LT(measured->base_latency_ns, 2000);
  EXPECT_GT(measured->short_chase_ns, 1);
  if (measured->memory_threshold_ns > 0) {
    EXPECT_GT(measured->memory_threshold_ns, measured->timing_overhead_ns);
    EXPECT_LT(measured->memory_threshold_ns, measured->timing_overhead_ns + 2 * measured->base_latency_ns);
  }
  EXPECT_EQ(measured->cpu_model, cpu.model);
  EXPECT_EQ(measured->read_bandwidth_bps, 0);
  EXPECT_TRUE(parse_calibration(serialize(*measured)));

  EXPECT_TRUE(spreads.contains("base_latency_ns"));
  ASSERT_FALSE(progress.empty());
  EXPECT_TRUE(std::is_sorted(progress.begin(), progress.end()));
}

TEST(Calibrate, WithoutMemoryForAChaseFails) {
  Cpu cpu = read_cpu();
  cpu.memory_bytes = std::uint64_t{100} << 20;
  const auto measured = calibrate(cpu, Clock::calibrate());
  ASSERT_FALSE(measured);
  EXPECT_NE(measured.error().message.find("too little memory"), std::string::npos);
  EXPECT_FALSE(measured.error().hint.empty());
}

TEST(TimedLoad, ReadsWithoutChangingAnything) {
  const char byte = 42;
  EXPECT_GT(timed_load_ticks(&byte), 0U);
  EXPECT_EQ(byte, 42);
}

}  // namespace
}  // namespace nvmemu
