// SPDX-License-Identifier: Apache-2.0
#include "epoch/thread_emulator.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

namespace nvmemu {
namespace {

// Plays back epochs, and notes in what order it is paused and resumed.
class FakeSource final : public CounterSource {
 public:
  explicit FakeSource(std::vector<std::string>& events) : events_(events) {}
  void next(double stall_ns, double overhead_ns = 0) {
    EpochCounts counts;
    counts.cpu_ns = 100e6;
    counts.memory_stall_ns = stall_ns;
    counts.fresh_stall_ns = stall_ns;
    counts.overhead_ns = overhead_ns;
    counts.samples = 100;
    counts.share_error_ns = 1e6;
    counts.sampling_variance_ns2 = 4e12;
    epochs_.push_back(counts);
  }
  EpochCounts& last() { return epochs_.back(); }
  EpochCounts read() noexcept override {
    if (epochs_.empty()) return {};
    const EpochCounts counts = epochs_.front();
    epochs_.pop_front();
    return counts;
  }
  bool has_news() noexcept override { return !epochs_.empty(); }
  bool has_more() noexcept override { return tells_all && !epochs_.empty(); }
  bool knows_enough(double) noexcept override { return knows; }
  double cpu_ns() noexcept override { return now_ns; }
  void pause(double) noexcept override { events_.push_back("pause"); }
  void resume(double injected_ns) noexcept override {
    events_.push_back("resume");
    now_ns += injected_ns;
  }
  void settle() noexcept override { settled = true; }
  void keep_warm() noexcept override { ++visits; }
  double now_ns = 0;  // CPU time
  int visits = 0;
  bool settled = false;
  bool tells_all = false;
  bool knows = true;

 private:
  std::vector<std::string>& events_;
  std::deque<EpochCounts> epochs_;
};

class FakeInjector final : public Injector {
 public:
  explicit FakeInjector(std::vector<std::string>& events) : events_(events) {}
  double inject(double delay_ns, CounterSource& source) noexcept override {
    source.keep_warm();
    events_.push_back("inject");
    delays.push_back(delay_ns);
    now += static_cast<std::uint64_t>(delay_ns);
    return delay_ns + oversleep_ns;
  }
  double wait_until(std::uint64_t until_ns, CounterSource&) noexcept override {
    if (until_ns <= now) return 0;
    events_.push_back("wait");
    waits.push_back(until_ns);
    const double waited_ns = static_cast<double>(until_ns - now);
    now = until_ns;
    return waited_ns;
  }
  std::uint64_t now_ns() noexcept override { return now; }
  std::vector<double> delays;
  std::vector<std::uint64_t> waits;
  std::uint64_t now = 0;
  double oversleep_ns = 0;

 private:
  std::vector<std::string>& events_;
};

class ThreadEmulatorTest : public testing::Test {
 protected:
  // Intervals of 2 ms that end at edge 1, each with 1 ms of stall.
  void learn_rate() {
    for (int i = 0; i < 100; ++i) {
      source_.next(1e6);
      source_.now_ns += 2e6;
      emulator_.reach_edge(1);
    }
    injector_.delays.clear();
  }

  std::vector<std::string> events_;
  FakeSource source_{events_};
  FakeInjector injector_{events_};
  ThreadEmulator emulator_{source_, injector_, {.base_ns = 100, .target_ns = 300}, 50e6};
};

TEST_F(ThreadEmulatorTest, InjectsWhatTheModelSaysLessTheOverhead) {
  source_.next(10e6, 1e6);
  emulator_.end_epoch();
  EXPECT_EQ(injector_.delays, std::vector<double>{19e6});
  EXPECT_DOUBLE_EQ(emulator_.totals().delay_ns, 20e6);
  EXPECT_DOUBLE_EQ(emulator_.totals().injected_ns, 19e6);
  EXPECT_DOUBLE_EQ(emulator_.totals().overhead_ns, 1e6);
  EXPECT_DOUBLE_EQ(emulator_.unpaid_ns(), 0);
}

TEST_F(ThreadEmulatorTest, DoesNotCountWhileItInjects) {
  source_.next(10e6);
  emulator_.end_epoch();
  EXPECT_EQ(events_, (std::vector<std::string>{"pause", "inject", "resume"}));
}

TEST_F(ThreadEmulatorTest, LeavesAThreadAloneThatDidNotWait) {
  source_.next(0, 1e6);
  emulator_.end_epoch();
  EXPECT_TRUE(events_.empty());
  EXPECT_EQ(emulator_.totals().epochs, 1u);
}

TEST_F(ThreadEmulatorTest, CarriesAnOversleptInjectionIntoTheNextEpoch) {
  injector_.oversleep_ns = 3e6;
  source_.next(10e6);
  source_.next(10e6);
  emulator_.end_epoch();
  emulator_.end_epoch();
  EXPECT_EQ(injector_.delays, (std::vector<double>{20e6, 17e6}));
}

TEST_F(ThreadEmulatorTest, AThreadThatWasStoppedWhileItPaidHasNotPaidForHours) {
  injector_.oversleep_ns = 3600e9;
  source_.next(10e6);
  source_.next(10e6);
  emulator_.end_epoch();
  emulator_.end_epoch();
  EXPECT_EQ(injector_.delays, (std::vector<double>{20e6, 10e6}));
}

TEST_F(ThreadEmulatorTest, PaysAtAnEdgeWhatWasMeasuredSinceTheLast) {
  source_.next(1e6);
  source_.now_ns += 500e6;  // five windows: nothing is left to be evened out
  EXPECT_TRUE(emulator_.reach_edge(1));
  EXPECT_EQ(events_, (std::vector<std::string>{"pause", "inject", "resume"}));
  EXPECT_GT(injector_.delays.at(0), 1.9e6);
  EXPECT_EQ(emulator_.totals().epochs, 1u);
}

TEST_F(ThreadEmulatorTest, AnIntervalWithoutASamplePaysWhatItsLikeHaveOwed) {
  learn_rate();
  source_.now_ns += 1e6;
  EXPECT_TRUE(emulator_.reach_edge(1));
  ASSERT_EQ(injector_.delays.size(), 1u);
  EXPECT_NEAR(injector_.delays[0], 1e6, 0.1e6);  // 2 ms of delay for 2 ms of CPU time
}

TEST_F(ThreadEmulatorTest, TimeSpentWaitingAtAnEdgeIsNotCharged) {
  learn_rate();
  emulator_.reach_edge(1);  // the thread was blocked: its CPU time stands where it stood
  EXPECT_TRUE(injector_.delays.empty());
}

TEST_F(ThreadEmulatorTest, SpinningForAnotherIsNotChargedEither) {
  learn_rate();
  source_.now_ns += 5e6;
  emulator_.begin_interval();
  emulator_.reach_edge(1);
  EXPECT_TRUE(injector_.delays.empty());
}

TEST_F(ThreadEmulatorTest, WaitsToPayAtEdgesUntilTheSourceKnowsEnough) {
  source_.knows = false;
  source_.next(10e6);
  source_.now_ns += 20e6;
  emulator_.reach_edge(1);
  EXPECT_TRUE(injector_.delays.empty());
  EXPECT_DOUBLE_EQ(emulator_.unpaid_ns(), 20e6);
  emulator_.end_epoch();
  EXPECT_EQ(injector_.delays, std::vector<double>{20e6});
}

TEST_F(ThreadEmulatorTest, SamplingErrorsAddAsVariancesAndShareErrorsAsTheyAre) {
  for (int i = 0; i < 4; ++i) {
    source_.next(10e6);
    emulator_.end_epoch();
  }
  EXPECT_DOUBLE_EQ(emulator_.totals().stall_variance_ns2(), 4 * 4e12 + 4e6 * 4e6);
}

TEST_F(ThreadEmulatorTest, TheLastEpochKeepsNothingBack) {
  source_.next(10e6);
  emulator_.end_epoch();
  EXPECT_FALSE(source_.settled);
  source_.next(10e6);
  emulator_.finish();
  EXPECT_TRUE(source_.settled);
  EXPECT_EQ(injector_.delays, (std::vector<double>{20e6, 20e6}));
}

// Of CPU time, whatever else the machine does meanwhile.
TEST(SpinInjector, WaitsAtLeastAsLongAndSaysHowLong) {
  const Clock clock = Clock::calibrate();
  SpinInjector injector(clock);
  std::vector<std::string> events;
  FakeSource source(events);
  const std::uint64_t start = thread_cpu_ns();
  const double took_ns = injector.inject(2e6, source);
  const auto passed_ns = static_cast<double>(thread_cpu_ns() - start);
  EXPECT_GE(took_ns, 2e6);
  EXPECT_LE(took_ns, passed_ns);  // not near: an interrupt between the readings counts too
}

TEST_F(ThreadEmulatorTest, AsksTheModelThatItIsGiven) {
  const DelayModel seven_ms = [](const EpochCounts&, const ReadLatency&) noexcept { return 7e6; };
  ThreadEmulator emulator(source_, injector_, {.base_ns = 100, .target_ns = 300}, 50e6, seven_ms);
  source_.next(10e6);
  emulator.end_epoch();
  EXPECT_EQ(injector_.delays, std::vector<double>{7e6});
}

TEST_F(ThreadEmulatorTest, EndsWithEveryEpochThatTheSourceHasLeft) {
  source_.tells_all = true;
  for (int i = 0; i < 3; ++i) source_.next(10e6);
  emulator_.finish();
  EXPECT_EQ(injector_.delays, (std::vector<double>{20e6}));
  emulator_.end();
  EXPECT_EQ(injector_.delays, (std::vector<double>{20e6, 20e6, 20e6}));
}

// A target of 1 GB/s in both directions.
class GovernedThreadTest : public ThreadEmulatorTest {
 protected:
  void move(double read_bytes, double stall_ns = 0, double overhead_ns = 0) {
    source_.next(stall_ns, overhead_ns);
    source_.last().traffic.read_bytes = read_bytes;
    injector_.now += 100'000'000;  // what the epoch took
  }
  static constexpr std::uint64_t kStart = 1'000'000'000'000;
  std::atomic<std::uint64_t> reads_{0}, writes_{0};
  Governor governor_{reads_, writes_, {.read_bps = 1e9, .write_bps = 1e9}};
  ThreadEmulator governed_{source_, injector_, {.base_ns = 100, .target_ns = 300}, 50e6, stall_delay_ns, &governor_};

  void SetUp() override { injector_.now = kStart; }
};

TEST_F(GovernedThreadTest, WaitsUntilTheMemoryWouldHaveMovedIt) {
  move(300e6);
  governed_.end_epoch();
  EXPECT_EQ(injector_.waits, std::vector<std::uint64_t>{kStart + 300'000'000});
  EXPECT_EQ(governed_.totals().held_ns, 200e6);
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
