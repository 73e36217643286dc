// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "epoch/thread_emulator.h"
#include "epoch_fakes.h"

namespace nvmemu {
namespace {

// A target of 1 GB/s in both directions.
class GovernedThreadTest : public testing::Test {
 protected:
  void SetUp() override { injector_.now = kStart; }
  void move(double read_bytes, double stall_ns = 0, double overhead_ns = 0) {
    source_.next(stall_ns, overhead_ns);
    source_.last().traffic.read_bytes = read_bytes;
    injector_.now += 100'000'000;  // what the epoch took
  }
  static constexpr std::uint64_t kStart = 1'000'000'000'000;
  std::vector<std::string> events_;
  FakeSource source_{events_};
  FakeInjector injector_{events_};
  BusyUntil busy_until_{};
  Governor governor_{busy_until_, {.read_bps = 1e9, .write_bps = 1e9}};
  ThreadEmulator governed_{source_, injector_,      {.base_ns = 100, .target_ns = 300},
                           50e6,    stall_delay_ns, &governor_};
};

TEST_F(GovernedThreadTest, WaitsUntilTheMemoryWouldHaveMovedIt) {
  move(300e6);
  governed_.end_epoch();
  EXPECT_EQ(injector_.waits, std::vector<std::uint64_t>{kStart + 300'000'000});
  EXPECT_EQ(governed_.totals().governed_ns, 200e6);
  EXPECT_EQ(governed_.totals().injected_ns, 200e6);
  EXPECT_EQ(governed_.totals().traffic.read_bytes, 300e6);
}

TEST_F(GovernedThreadTest, DoesNotWaitBelowTheTarget) {
  move(90e6);
  governed_.end_epoch();
  EXPECT_TRUE(injector_.waits.empty());
  EXPECT_TRUE(events_.empty());
}

TEST_F(GovernedThreadTest, WaitsForTheLargerOfLatencyAndBandwidth) {
  move(300e6, 50e6);  // 100 ms by latency, 200 by bandwidth
  governed_.end_epoch();
  EXPECT_EQ(injector_.delays, std::vector<double>{100e6});
  EXPECT_EQ(injector_.waits, std::vector<std::uint64_t>{kStart + 300'000'000});
  EXPECT_EQ(governed_.totals().injected_ns, 200e6);

  move(150e6, 50e6);  // 100 ms by latency, 50 by bandwidth
  governed_.end_epoch();
  EXPECT_EQ(injector_.delays.back(), 100e6);
  EXPECT_EQ(governed_.totals().injected_ns, 300e6);
}

TEST_F(GovernedThreadTest, OverheadOfAHeldUpEpochBuysNoLaterDelayOff) {
  move(300e6, 0, 10e6);
  governed_.end_epoch();
  EXPECT_EQ(governed_.unpaid_ns(), 0);
}

TEST_F(GovernedThreadTest, WaitsAtEdges) {
  move(300e6);
  source_.now_ns += 100e6;
  governed_.reach_edge(1);
  EXPECT_EQ(injector_.waits, std::vector<std::uint64_t>{kStart + 300'000'000});
}

// In 100 ms each of two threads persists what takes the medium 80 ms.
TEST_F(GovernedThreadTest, PersistsOfAllThreadsGoAtTheMediumsBandwidth) {
  constexpr PersistTarget kTarget{.first_ns = 100, .line_ns = 1000, .tier = 1};
  governor_.limit_persists(1, busy_until_);
  governed_.end_epoch();  // what follows begins now
  FakeSource other_source{events_};
  FakeInjector other_injector{events_};
  other_injector.now = kStart;
  ThreadEmulator other{other_source, other_injector, {.base_ns = 100, .target_ns = 300},
                       50e6,         stall_delay_ns, &governor_};
  governed_.persist({.lines = 80'000, .blocks = 80'000}, kTarget);
  other.persist({.lines = 80'000, .blocks = 80'000}, kTarget);
  injector_.now += 100'000'000;
  other_injector.now += 100'000'000;
  governed_.end_epoch();
  EXPECT_TRUE(injector_.waits.empty()) << "alone it is below the bandwidth";
  other.end_epoch();
  EXPECT_EQ(other_injector.waits, std::vector<std::uint64_t>{kStart + 160'000'000});
  EXPECT_EQ(other.totals().governed_ns, 60e6);
}

TEST_F(GovernedThreadTest, PersistsThatNobodyToldOfGoAtItToo) {
  governor_.limit_persists(0, busy_until_);
  governed_.end_epoch();
  source_.next(0);
  source_.last().persists = {.persists = 10, .lines = 10, .busy_ns = {130e6}};
  injector_.now += 100'000'000;
  governed_.end_epoch();
  EXPECT_EQ(injector_.waits, std::vector<std::uint64_t>{kStart + 130'000'000});
}

TEST_F(GovernedThreadTest, WaitsAtEdgesWhateverIsUnknownOfItsLoads) {
  source_.knows = false;
  move(300e6, 50e6);
  source_.now_ns += 100e6;
  governed_.reach_edge(1);
  EXPECT_TRUE(injector_.delays.empty());
  EXPECT_EQ(injector_.waits.size(), 1u);
}

}  // namespace
}  // namespace nvmemu
