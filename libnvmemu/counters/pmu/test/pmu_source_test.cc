// SPDX-License-Identifier: Apache-2.0
#include "counters/pmu/pmu_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <vector>

#include "base/clock.h"
#include "counters/pmu/test/fake_pmu.h"
#include "host/test/needs.h"

namespace nvmemu {
namespace {

using testing::ElementsAre;
using enum Role;

std::vector<Role> roles_of(const char* design, int nodes) {
  const CountedRoles counted = roles_to_count(*find_microarchitecture(design), nodes);
  return {counted.begin(), counted.end()};
}

TEST(RolesToCount, TakeWhatTheFormulaNeedsFirst) {
  EXPECT_THAT(roles_of("skx", 1), ElementsAre(kCycles, kStall, kMiss, kEpisodes, kHit));
  EXPECT_THAT(roles_of("skx", 2), ElementsAre(kCycles, kStall, kLocalDram, kRemoteDram, kEpisodes));
  EXPECT_THAT(roles_of("skl", 1), ElementsAre(kCycles, kStall, kMiss, kEpisodes, kHit));
  EXPECT_THAT(roles_of("ivb", 1), ElementsAre(kCycles, kStall, kMiss, kHit, kEpisodes));
  EXPECT_THAT(roles_of("snb_ep", 2), ElementsAre(kCycles, kStall, kHit, kLocalDram, kRemoteDram));
  EXPECT_THAT(roles_of("zen3", 2),
              ElementsAre(kCycles, kLocalDram, kRemoteDram, kInFlight, kAnyInFlight, kHit));
  EXPECT_THAT(roles_of("zen4", 2), ElementsAre(kCycles, kStall, kLocalDram, kRemoteDram, kHit, kInnerHit));
  EXPECT_THAT(roles_of("neoverse-n1", 2), ElementsAre(kCycles, kStall, kReads, kRemoteDram, kMiss));
}

TEST(RolesToCount, NeverTakeMoreThanTheCountersGive) {
  for (const auto& table : all_microarchitectures()) {
    for (const Microarchitecture& design : table) {
      for (const int nodes : {1, 2})
        EXPECT_LE(roles_to_count(design, nodes).size, static_cast<std::size_t>(design.counters) + 1)
            << design.name;
    }
  }
}

TEST(AttributesOf, CountUserModeOfOneThreadUnpinned) {
  const Microarchitecture& icelake = *find_microarchitecture("icx");
  std::array<perf_event_attr, EventGroup::kMostEvents> attributes{};
  CountedRoles roles{.roles = {kCycles, kMemoryWrites}, .size = 2};
  ASSERT_EQ(attributes_of(icelake, roles, attributes), 2U);
  EXPECT_EQ(attributes[0].type, static_cast<std::uint32_t>(PERF_TYPE_RAW));
  EXPECT_EQ(attributes[0].config, 0x3cU);
  EXPECT_EQ(attributes[1].config, 0x1b7U);
  EXPECT_EQ(attributes[1].config1, 0xfbff80822U);
  for (const perf_event_attr& each : {attributes[0], attributes[1]}) {
    EXPECT_TRUE(each.exclude_kernel);
    EXPECT_FALSE(each.inherit);
    EXPECT_FALSE(each.pinned);
  }
}

TEST(CoreClock, IsCyclesOverTimeInUserMode) {
  CoreClock clock;
  clock.start(0, 1e9);
  EXPECT_FALSE(clock.is_due(1e6));
  EXPECT_TRUE(clock.is_due(3e6));
  clock.add(3e6, 1e9 + 1e6);
  EXPECT_DOUBLE_EQ(clock.cycles_per_ns(), 3);
  EXPECT_FALSE(clock.is_due(3e6 + 149e6)) << "50 ms at 3 GHz are not over";
  EXPECT_TRUE(clock.is_due(3e6 + 150e6));
}

TEST(CoreClock, FollowsTurbo) {
  CoreClock clock;
  double cycles = 0;
  double user_ns = 0;
  for (int window = 0; window < 40; ++window) {
    cycles += window < 20 ? 100e6 : 200e6;
    user_ns += 50e6;
    clock.add(cycles, user_ns);
    if (window == 19) {
      EXPECT_NEAR(clock.cycles_per_ns(), 2, 0.01);
    }
  }
  EXPECT_NEAR(clock.cycles_per_ns(), 4, 0.01);
}

TEST(CoreClock, DoesNotBelieveWhatNoCoreCanDo) {
  CoreClock clock;
  clock.add(1e9, 0);
  clock.add(1e12, 1e3);
  EXPECT_EQ(clock.cycles_per_ns(), 0);
}

// Skylake-SP with a node of its own, on a machine whose counters the test moves.
class CountedThread : public testing::Test {
 protected:
  static constexpr std::uint64_t kCyclesConfig = 0x3c, kStallConfig = 0x60006a3, kMissConfig = 0x20d1,
                                 kEpisodesConfig = 0x60406a3;
  CountedThread()
      : source_({.design = find_microarchitecture("skx"),
                 .latencies = {.memory_ns = 90, .last_level_ns = 20},
                 .signal = SIGWINCH},
                FakePmu::open, FakePmu::zero) {}
  void SetUp() override { ASSERT_EQ(source_.open(gettid(), TickerKind::kAny), 0) << source_.failure().error; }
  void TearDown() override { source_.close(); }

  static void use_cpu_time() {
    const double end = static_cast<double>(thread_cpu_ns()) + 1e6;
    while (static_cast<double>(thread_cpu_ns()) < end) continue;
  }
  void count(std::int64_t cycles, std::int64_t stalls, std::int64_t misses) {
    pmu_.count(kCyclesConfig, cycles);
    pmu_.count(kStallConfig, stalls);
    pmu_.count(kMissConfig, misses);
  }

  FakePmu pmu_;
  PmuSource source_;
};

// Before the clock of the core is known, the share of stall cycles is that of the time.
TEST_F(CountedThread, TurnsStallCyclesIntoTime) {
  use_cpu_time();
  pmu_.run(1000);
  count(2000, 500, 6);
  pmu_.count(kEpisodesConfig, 4);
  const EpochCounts counts = source_.read();
  EXPECT_EQ(counts.counted_share(), 1);
  EXPECT_EQ(counts.cycles, 2000);
  EXPECT_EQ(counts.stall_cycles, 500);
  EXPECT_EQ(counts.loads.misses, 6);
  EXPECT_EQ(counts.loads.episodes, 4);
  EXPECT_GE(counts.cpu_ns, 1e6);
  EXPECT_NEAR(counts.stall_ns, counts.cpu_ns / 4, 1);
}

TEST_F(CountedThread, TellsEachCountOnce) {
  pmu_.run(1000);
  count(2000, 500, 6);
  source_.read();
  pmu_.run(1000);
  count(2000, 0, 1);
  const EpochCounts counts = source_.read();
  EXPECT_EQ(counts.stall_cycles, 0);
  EXPECT_EQ(counts.loads.misses, 1);
}

TEST_F(CountedThread, ScalesWhatWasSeenForPartOfTheTimeAndSaysSo) {
  pmu_.run(1000);
  pmu_.wait(3000);
  count(2000, 500, 6);
  const EpochCounts counts = source_.read();
  EXPECT_EQ(counts.counted_share(), 0.25);
  EXPECT_EQ(counts.loads.misses, 24);
  EXPECT_EQ(source_.lowest_share(), 0.25);
}

TEST_F(CountedThread, ATimeOffTheCountersIsToldWithTheNext) {
  pmu_.wait(3000);
  const EpochCounts unseen = source_.read();
  EXPECT_EQ(unseen.counted_share(), 0) << "not 'no stalls'";
  EXPECT_EQ(unseen.stall_ns, 0);
  pmu_.run(1000);
  count(2000, 500, 6);
  const EpochCounts both = source_.read();
  EXPECT_EQ(both.counted_share(), 0.25);
  EXPECT_EQ(both.loads.misses, 24);
}

TEST_F(CountedThread, LeavesInjectionsOut) {
  pmu_.run(1000);
  count(2000, 500, 6);
  EXPECT_EQ(source_.read().loads.misses, 6);
  const double before_ns = source_.cpu_ns();
  pmu_.run(100000);
  count(300000, 7000, 80);
  use_cpu_time();
  const double injected_ns = source_.cpu_ns() - before_ns;
  source_.resume(injected_ns);
  pmu_.run(100);
  count(30, 20, 1);
  const EpochCounts counts = source_.read();
  EXPECT_EQ(counts.cycles, 30);
  EXPECT_EQ(counts.stall_cycles, 20);
  EXPECT_EQ(counts.loads.misses, 1);
  EXPECT_LT(counts.cpu_ns, 0.9e6);
}

// What nothing was seen of before the injection is still to be told after it.
TEST_F(CountedThread, AnInjectionDoesNotSwallowWhatIsUntold) {
  pmu_.wait(3000);
  EXPECT_EQ(source_.read().counted_share(), 0);
  pmu_.run(100000);
  count(300000, 7000, 80);
  source_.resume(1000);
  pmu_.run(1000);
  count(2000, 500, 6);
  const EpochCounts counts = source_.read();
  EXPECT_EQ(counts.counted_share(), 0.25);
  EXPECT_EQ(counts.loads.misses, 24);
}

std::uint64_t counter_numbered(std::uint32_t number) noexcept { return 100 * (number + 1); }

// Where the kernel tells the time in the page, nothing is asked of it.
TEST_F(CountedThread, TakesTimeAndCountsFromThePages) {
  PmuSource source(
      {.design = find_microarchitecture("skx"), .latencies = {.memory_ns = 90}, .signal = SIGWINCH},
      FakePmu::open, counter_numbered);
  ASSERT_EQ(source.open(gettid(), TickerKind::kAny), 0);
  pmu_.tell_time();
  const double start_ns = source.cpu_ns();
  source.read();
  EXPECT_GT(source.cpu_ns(), start_ns);
  EXPECT_LT(source.cpu_ns(), start_ns + 1e10) << "by the pages' clock";
  source.close();
}

TEST_F(CountedThread, CountersThatCannotBeReadAreNoZeros) {
  pmu_.break_down();
  const EpochCounts counts = source_.read();
  EXPECT_EQ(counts.counted_share(), 0);
  EXPECT_TRUE(source_.has_lost_counts());
}

TEST_F(CountedThread, AnEpochIsCpuTimeSinceTheLastReading) {
  use_cpu_time();
  source_.on_tick(ucontext_t{});
  EXPECT_GE(source_.epoch_ns(), 1e6);
  source_.read();
  EXPECT_LT(source_.epoch_ns(), 0.9e6);
}

TEST_F(CountedThread, SaysWhatItCounts) {
  EXPECT_EQ(source_.counted(), kCountsStall | kCountsMisses | kCountsHits | kCountsEpisodes);
  const PmuSource weighted({.design = find_microarchitecture("snb_ep"), .numa_nodes = 2});
  EXPECT_EQ(weighted.counted(),
            kCountsStall | kCountsMisses | kCountsHits | kCountsNodes | kCountsCacheStall);
}

TEST_F(CountedThread, OpensTheDesignsEvents) {
  EXPECT_TRUE(source_.reads_in_user_space());
  EXPECT_EQ(pmu_.size(), 5U);
  EXPECT_TRUE(pmu_.has(kEpisodesConfig));
}

// The machine's own counters, where it has them and the catalogue knows it.
TEST(PmuSource, OnTheRunningMachineCountsOrSaysWhyNot) {
  const Microarchitecture* design = find_events(read_cpu().signature);
  NVMEMU_NEEDS(design != nullptr, "a processor whose events are known");
  PmuSource source(
      {.design = design, .latencies = {.memory_ns = 90, .last_level_ns = 20}, .signal = SIGWINCH});
  if (source.open(gettid(), TickerKind::kAny) != 0) {
    EXPECT_NE(source.failure().refusal, CounterRefusal::kNone);
    return;
  }
  const double end = source.cpu_ns() + 20e6;
  while (source.cpu_ns() < end) continue;
  const EpochCounts counts = source.read();
  EXPECT_GE(counts.cpu_ns, 20e6);
  EXPECT_LE(counts.stall_ns, counts.cpu_ns);
  source.close();
}

}  // namespace
}  // namespace nvmemu
