// SPDX-License-Identifier: Apache-2.0
#include "counters/pmu/traffic_counters.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "counters/pmu/pmu_source.h"
#include "counters/pmu/test/fake_pmu.h"

namespace nvmemu {
namespace {

// Ice Lake-SP's events, on a machine whose counters the test moves.
constexpr std::uint64_t kReadsConfig = 0x1bb, kWritesConfig = 0x1b7;

class CountedTraffic : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(counters_.open(gettid(), true).refusal, CounterRefusal::kNone); }
  void move(std::int64_t lines_read, std::int64_t lines_written) {
    pmu_.count(kReadsConfig, lines_read);
    pmu_.count(kWritesConfig, lines_written);
  }
  TrafficCounts read() {
    TrafficCounts traffic;
    EXPECT_TRUE(counters_.read(traffic));
    return traffic;
  }

  FakePmu pmu_;
  TrafficCounters counters_{*find_microarchitecture("icx"), FakePmu::open, FakePmu::zero};
};

TEST_F(CountedTraffic, IsLinesOfSixtyFourBytesToldOnce) {
  pmu_.run(1000);
  move(100, 40);
  const TrafficCounts traffic = read();
  EXPECT_EQ(traffic.read_bytes, 6400);
  EXPECT_EQ(traffic.written_bytes, 2560);
  EXPECT_EQ(traffic.samples, 0U) << "nobody sampled";
  pmu_.run(1000);
  EXPECT_EQ(read().bytes(), 0);
}

TEST_F(CountedTraffic, IsScaledWhereTheStallsHadTheCountersMeanwhile) {
  pmu_.run(1000);
  pmu_.wait(1000);
  move(100, 40);
  EXPECT_EQ(read().read_bytes, 12800);
}

TEST_F(CountedTraffic, OfATimeThatNobodySawIsToldWithTheNext) {
  pmu_.wait(3000);
  EXPECT_EQ(read().bytes(), 0);
  pmu_.run(1000);
  move(100, 0);
  EXPECT_EQ(read().read_bytes, 25600);
}

TEST_F(CountedTraffic, LeavesOutWhatAnInjectionMoved) {
  pmu_.run(1000);
  move(100, 40);
  read();
  pmu_.run(100000);
  move(7, 7);
  counters_.leave_out_since_read();
  pmu_.run(1000);
  move(1, 0);
  const TrafficCounts traffic = read();
  EXPECT_EQ(traffic.read_bytes, 64);
  EXPECT_EQ(traffic.written_bytes, 0);
}

TEST_F(CountedTraffic, CannotBeReadWithoutSayingSo) {
  pmu_.break_down();
  TrafficCounts traffic;
  EXPECT_FALSE(counters_.read(traffic));
}

TEST(TrafficCounters, AreNotOpenedWhereTheDesignHasNone) {
  FakePmu pmu;
  for (const char* design : {"zen4", "skx", "neoverse-n1"}) {
    TrafficCounters counters(*find_microarchitecture(design), FakePmu::open, FakePmu::zero);
    EXPECT_EQ(counters.open(gettid(), true).refusal, CounterRefusal::kNoSuchEvent) << design;
  }
  EXPECT_EQ(pmu.size(), 0U);
}

class SourceOfTraffic : public testing::Test {
 protected:
  static PmuSourceOptions options(const char* design, bool counts_traffic) {
    return {.design = find_microarchitecture(design),
            .latencies = {.memory_ns = 90, .last_level_ns = 20},
            .counts_traffic = counts_traffic,
            .signal = SIGWINCH};
  }
  FakePmu pmu_;
};

TEST_F(SourceOfTraffic, TellsItBesideTheStalls) {
  PmuSource source(options("icx", true), FakePmu::open, FakePmu::zero);
  ASSERT_EQ(source.open(gettid(), TickerKind::kAny), 0);
  pmu_.run(1000);
  pmu_.count(0x20d1, 6);
  pmu_.count(kReadsConfig, 100);
  pmu_.count(kWritesConfig, 40);
  const EpochCounts counts = source.read();
  EXPECT_EQ(counts.loads.misses, 6);
  EXPECT_EQ(counts.traffic.read_bytes, 6400);
  EXPECT_EQ(counts.traffic.written_bytes, 2560);
  pmu_.run(1000);
  pmu_.count(kReadsConfig, 5);
  source.resume(1000);
  EXPECT_EQ(source.read().traffic.bytes(), 0) << "of the injection";
  source.close();
}

TEST_F(SourceOfTraffic, DoesNotCountWhatNobodyAskedFor) {
  PmuSource source(options("icx", false), FakePmu::open, FakePmu::zero);
  ASSERT_EQ(source.open(gettid(), TickerKind::kAny), 0);
  EXPECT_FALSE(pmu_.has(kReadsConfig));
  source.close();
}

TEST_F(SourceOfTraffic, IsRefusedWhereTheDesignHasNone) {
  PmuSource source(options("zen4", true), FakePmu::open, FakePmu::zero);
  EXPECT_NE(source.open(gettid(), TickerKind::kAny), 0);
  EXPECT_EQ(source.failure().event, source.roles().size);
}

TEST(TrafficEvents, AreInTheCatalogueOfEveryDesignThatCountsThem) {
  int counting = 0;
  for (const auto& table : all_microarchitectures()) {
    for (const Microarchitecture& design : table) {
      EXPECT_NE(*design.traffic.notes, '\0') << design.name;
      if (!design.traffic.counted) continue;
      ++counting;
      ASSERT_NE(design.find(Role::kMemoryReads), nullptr) << design.name;
      ASSERT_NE(design.find(Role::kMemoryWrites), nullptr) << design.name;
      EXPECT_NE(design.find(Role::kMemoryReads)->config1, design.find(Role::kMemoryWrites)->config1);
    }
  }
  EXPECT_EQ(counting, 12) << "Sandy Bridge to Broadwell, Ice Lake-SP to Granite Rapids";
}

}  // namespace
}  // namespace nvmemu
