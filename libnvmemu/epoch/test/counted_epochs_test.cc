// SPDX-License-Identifier: Apache-2.0
// A thread emulated by hardware counters: from what they count to what is injected.
#include <gtest/gtest.h>
#include <linux/hw_breakpoint.h>
#include <signal.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "counters/pmu/pmu_source.h"
#include "counters/pmu/test/fake_pmu.h"
#include "epoch/thread_emulator.h"
#include "host/test/needs.h"

namespace nvmemu {
namespace {

constexpr std::uint64_t kCyclesConfig = 0x3c, kStallConfig = 0x60006a3, kMissConfig = 0x20d1;  // Skylake-SP's
constexpr ReadLatency kTriple{.base_ns = 100, .target_ns = 300};

class NotingInjector final : public Injector {
 public:
  void inject(double delay_ns, CounterSource&, WaitProgress& progress) override {
    delays.push_back(delay_ns);
    progress.spent_ns = delay_ns;
  }
  void wait_until(std::uint64_t, CounterSource&, WaitProgress&) override {}  // nothing is governed here
  std::uint64_t now_ns() noexcept override { return 0; }
  std::vector<double> delays;
};

void use_cpu_time() {
  const double end = static_cast<double>(thread_cpu_ns()) + 1e6;
  while (static_cast<double>(thread_cpu_ns()) < end) continue;
}

PmuSourceOptions options() {
  return {.design = find_microarchitecture("skx"),
          .latencies = {.memory_ns = 100, .last_level_ns = 25},
          .tick_ns = 1e9,
          .signal = SIGWINCH};
}

// On pages that the test writes to.
class CountedEpochs : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(source_.open(gettid(), TickerKind::kAny), 0); }
  void TearDown() override { source_.close(); }

  FakePmu pmu_;
  PmuSource source_{options(), FakePmu::open, FakePmu::zero};
  NotingInjector injector_;
};

TEST_F(CountedEpochs, DelayAsTheirStallTimeSays) {
  ThreadEmulator emulator(source_, injector_, kTriple, 100e6);
  use_cpu_time();
  pmu_.run(1000);
  pmu_.count(kCyclesConfig, 2000);
  pmu_.count(kStallConfig, 500);
  emulator.end_epoch();
  const EpochTotals& totals = emulator.totals();
  EXPECT_NEAR(totals.stall_ns, totals.cpu_ns / 4, 1);  // a quarter of the cycles
  ASSERT_EQ(injector_.delays.size(), 1U);
  EXPECT_NEAR(injector_.delays[0], 2 * totals.stall_ns, 1);
  EXPECT_NEAR(totals.counted_ns, totals.cpu_ns, 1);
}

TEST_F(CountedEpochs, NobodyCountedAreNotCalledEpochsWithoutStalls) {
  ThreadEmulator emulator(source_, injector_, kTriple, 100e6);
  use_cpu_time();
  pmu_.wait(1000);
  emulator.end_epoch();
  EXPECT_GE(emulator.totals().cpu_ns, 1e6);
  EXPECT_EQ(emulator.totals().counted_ns, 0);
}

TEST_F(CountedEpochs, PayAtEdgesToo) {
  ThreadEmulator emulator(source_, injector_, kTriple, 1e6);
  for (int i = 0; i < 20; ++i) {
    use_cpu_time();
    pmu_.run(1000);
    pmu_.count(kCyclesConfig, 2000);
    pmu_.count(kStallConfig, 1000);
    emulator.reach_edge(1);
  }
  EXPECT_GE(injector_.delays.size(), 15U);
}

// On the real kernel: the task clock for cycles, one a ns, and stores to a watched word for misses.
volatile std::uint64_t word;

long open_on_kernel(const perf_event_attr& wanted, int tid, int group) noexcept {
  perf_event_attr event = user_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
  event.disabled = wanted.disabled;
  if (wanted.config == kCyclesConfig) event.config = PERF_COUNT_SW_TASK_CLOCK;
  if (wanted.config == kMissConfig) {
    event.type = PERF_TYPE_BREAKPOINT;
    event.config = 0;
    event.bp_type = HW_BREAKPOINT_W;
    event.bp_addr = reinterpret_cast<std::uintptr_t>(&word);
    event.bp_len = HW_BREAKPOINT_LEN_8;
  }
  return open_event(event, tid, group);
}

class EpochsOfTheKernel : public testing::Test {
 protected:
  void SetUp() override {
    NVMEMU_NEEDS_WATCHPOINTS();
    ASSERT_EQ(source_.open(gettid(), TickerKind::kAny), 0);
  }
  void TearDown() override { source_.close(); }
  static void store(int times) {
    for (int i = 0; i < times; ++i) word = static_cast<std::uint64_t>(i);
  }
  PmuSource source_{options(), open_on_kernel};
  NotingInjector injector_;
};

TEST_F(EpochsOfTheKernel, DelayByExactlyWhatWasCounted) {
  signal(SIGWINCH, SIG_IGN);
  ThreadEmulator emulator(source_, injector_, kTriple, 100e6, misses_delay_ns);
  store(1000);
  emulator.end_epoch();
  EXPECT_EQ(emulator.totals().delay_ns, 1000 * 200.0);
  store(50);  // the delay itself is left out, and what comes after it counts
  emulator.end_epoch();
  EXPECT_EQ(emulator.totals().delay_ns, 1050 * 200.0);
  EXPECT_FALSE(source_.has_lost_counts());
  EXPECT_GT(emulator.totals().counted_ns, 0);
}

// As the preload library opens it for threads that it finds: counts are read by the thread itself.
TEST_F(EpochsOfTheKernel, OfAnotherThreadBeginWhereTheEventsDo) {
  PmuSource other(options(), open_on_kernel);
  int ready[2], go[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(go), 0);
  EpochCounts counts;
  std::thread thread([&] {
    const int tid = gettid();
    char byte = 0;
    ASSERT_EQ(write(ready[1], &tid, sizeof tid), static_cast<ssize_t>(sizeof tid));
    ASSERT_EQ(read(go[0], &byte, 1), 1);
    store(70);
    other.on_tick(ucontext_t{});
    counts = other.read();
  });
  int tid = 0;
  ASSERT_EQ(read(ready[0], &tid, sizeof tid), static_cast<ssize_t>(sizeof tid));
  const int error = other.open(tid, TickerKind::kPerfEvent);
  ASSERT_EQ(write(go[1], "", 1), 1);
  thread.join();
  for (const int fd : {ready[0], ready[1], go[0], go[1]}) close(fd);
  ASSERT_EQ(error, 0);
  EXPECT_EQ(counts.loads.misses, 70);
  EXPECT_GE(counts.cpu_ns, 0);
  other.close();
}

}  // namespace
}  // namespace nvmemu
