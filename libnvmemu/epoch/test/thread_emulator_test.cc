// SPDX-License-Identifier: Apache-2.0
#include "epoch/thread_emulator.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "epoch_fakes.h"

namespace nvmemu {
namespace {

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

TEST_F(ThreadEmulatorTest, WaitsForMemoryThatIsMoved) {
  emulator_.owe_move(5e6, {.read_bytes = 100, .written_bytes = 100});
  source_.next(10e6);
  emulator_.end_epoch();
  EXPECT_EQ(injector_.delays, std::vector<double>{25e6});
  EXPECT_DOUBLE_EQ(emulator_.totals().delay_ns, 25e6);
  EXPECT_EQ(emulator_.totals().traffic.read_bytes, 100);
}

// A device that is emulated beside memory: what the thread owes memory it owes as before, no more and no
// less.
TEST_F(ThreadEmulatorTest, HasWaitedForADeviceAndNotComputed) {
  emulator_.note_device_wait(7e6);
  EXPECT_EQ(source_.left_out_ns, 7e6);
  source_.next(10e6);
  emulator_.end_epoch();
  EXPECT_EQ(injector_.delays, std::vector<double>{20e6});
  EXPECT_DOUBLE_EQ(emulator_.totals().delay_ns, 20e6);
  EXPECT_DOUBLE_EQ(emulator_.totals().injected_ns, 27e6);
  EXPECT_DOUBLE_EQ(emulator_.unpaid_ns(), 0);
}

TEST_F(ThreadEmulatorTest, OwesNothingAtAnEdgeForAWaitForADevice) {
  learn_rate();
  source_.now_ns += 2e6;
  emulator_.reach_edge(1);
  const std::vector<double> without = injector_.delays;
  ASSERT_EQ(without.size(), 1u);
  source_.now_ns += 2e6 + 50e6;
  emulator_.note_device_wait(50e6);
  emulator_.reach_edge(1);
  ASSERT_EQ(injector_.delays.size(), 2u);
  EXPECT_NEAR(injector_.delays[1], without[0], 0.1 * without[0]);
}

// What is spun for a device while the thread pays, in a handler of the program's, is CPU time as any: paid.
TEST_F(ThreadEmulatorTest, CountsAWaitForADeviceAmidAnInjectionOnce) {
  source_.next(10e6);
  emulator_.book_epoch();
  emulator_.note_device_wait(5e6);
  emulator_.wait();
  emulator_.settle();
  EXPECT_EQ(source_.left_out_ns, 0);
  EXPECT_DOUBLE_EQ(emulator_.totals().injected_ns, 20e6);
}

class AlternatingThread : public ThreadEmulatorTest {
 protected:
  AlternatingThread() {
    injector_.now = 1;
    emulator_.alternate(*windows_, kWindow);
  }
  void epoch_at(std::uint64_t now_ns) {
    source_.next(10e6, 1e6);
    injector_.now = now_ns;
    emulator_.end_epoch();
  }
  static constexpr std::uint64_t kWindow = 100'000'000;
  std::unique_ptr<Alternation> windows_{new Alternation{}};
};

TEST_F(AlternatingThread, OwesNothingInWindowsWithoutDelays) {
  epoch_at(kWindow / 2);
  emulator_.owe_move(5e6, {});
  epoch_at(2 * kWindow);  // ends the window: what it measured was in it
  EXPECT_TRUE(injector_.delays.empty());
  EXPECT_EQ(emulator_.totals().delay_ns, 0);
  EXPECT_EQ(emulator_.unpaid_ns(), 0);
  epoch_at(2 * kWindow + 1);
  EXPECT_EQ(injector_.delays, std::vector<double>{19e6});
  epoch_at(4 * kWindow);  // likewise
  EXPECT_EQ(injector_.delays, (std::vector<double>{19e6, 19e6}));
  epoch_at(4 * kWindow + 1);
  EXPECT_EQ(injector_.delays.size(), 2u);
  EXPECT_EQ(windows_->begun(), 3u);
  EXPECT_EQ(windows_->boundary(0).delayed_ns, 0u);
  EXPECT_EQ(windows_->boundary(1).delayed_ns, 38'000'000u);
  EXPECT_EQ(windows_->boundary(1).cpu_ns, 200'000'000u);
}

TEST_F(AlternatingThread, WhatIsKnownTooLateIsOfTheWindowThatItWasWaitedForIn) {
  epoch_at(kWindow / 2);
  EXPECT_FALSE(source_.settled);
  epoch_at(2 * kWindow);
  EXPECT_TRUE(source_.settled);
  source_.settled = false;
  epoch_at(2 * kWindow + 1);
  EXPECT_FALSE(source_.settled);
}

TEST_F(AlternatingThread, IsHardlyMeasuredInWindowsWithoutDelays) {
  EXPECT_TRUE(source_.rests);
  epoch_at(2 * kWindow);
  EXPECT_FALSE(source_.rests);
  epoch_at(4 * kWindow);
  EXPECT_TRUE(source_.rests);
}

TEST_F(AlternatingThread, PaysNothingAtEdgesInWindowsWithoutDelays) {
  for (int i = 0; i < 100; ++i) {
    source_.next(1e6);
    source_.now_ns += 2e6;
    emulator_.reach_edge(1);
  }
  EXPECT_TRUE(injector_.delays.empty());
  EXPECT_EQ(emulator_.unpaid_ns(), 0);
}

TEST_F(ThreadEmulatorTest, DoesNotCountWhileItInjects) {
  source_.next(10e6);
  emulator_.end_epoch();
  EXPECT_EQ(events_, (std::vector<std::string>{"inject", "resume"}));
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
  EXPECT_EQ(events_, (std::vector<std::string>{"inject", "resume"}));
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
  emulator_.end();
  EXPECT_TRUE(source_.settled);
  EXPECT_EQ(injector_.delays, (std::vector<double>{20e6, 20e6}));
}

// By a jump out of a signal handler.
TEST_F(ThreadEmulatorTest, AWaitThatIsLeftIsPaidForAsFarAsItCameAndOnce) {
  source_.next(10e6);
  injector_.is_left_after_ns = 5e6;
  EXPECT_THROW(emulator_.end_epoch(), FakeInjector::Left);
  EXPECT_TRUE(emulator_.is_booked());
  EXPECT_TRUE(emulator_.settle());
  EXPECT_FALSE(emulator_.settle());
  EXPECT_FALSE(emulator_.is_booked());
  EXPECT_DOUBLE_EQ(emulator_.totals().injected_ns, 5e6);
  EXPECT_DOUBLE_EQ(emulator_.unpaid_ns(), 15e6);
  EXPECT_TRUE(emulator_.was_cut_short());
  injector_.is_left_after_ns = 0;
  emulator_.end_epoch();
  EXPECT_FALSE(emulator_.was_cut_short());
  EXPECT_EQ(injector_.delays, (std::vector<double>{20e6, 15e6}));
  EXPECT_DOUBLE_EQ(emulator_.totals().injected_ns, 20e6);
}

// A handler that interrupts it, and is emulated itself.
TEST(SpinInjector, StopsWhereItHasBeenSettledMeanwhile) {
  const Clock clock = Clock::calibrate();
  SpinInjector injector(clock);
  std::vector<std::string> events;
  FakeSource source(events);
  WaitProgress progress;
  progress.over = true;
  progress.spent_ns = 7;
  injector.inject(3600e9, source, progress);
  injector.wait_until(injector.now_ns() + 3'600'000'000'000, source, progress);
  EXPECT_EQ(progress.spent_ns, 7);
}

// Of CPU time, whatever else the machine does meanwhile.
TEST(SpinInjector, WaitsAtLeastAsLongAndSaysHowLong) {
  const Clock clock = Clock::calibrate();
  SpinInjector injector(clock);
  std::vector<std::string> events;
  FakeSource source(events);
  const std::uint64_t start = thread_cpu_ns();
  WaitProgress progress;
  injector.inject(2e6, source, progress);
  const double took_ns = progress.spent_ns;
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
  emulator_.end_epoch();
  EXPECT_EQ(injector_.delays, (std::vector<double>{20e6}));
  emulator_.end();
  EXPECT_EQ(injector_.delays, (std::vector<double>{20e6, 20e6, 20e6}));
}

}  // namespace
}  // namespace nvmemu
