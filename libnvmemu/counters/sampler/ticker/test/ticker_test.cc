// SPDX-License-Identifier: Apache-2.0
// The tickers on the real kernel. What is asserted holds on any machine that has them: a busy thread is
// sampled, a blocked one is not.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/clock.h"
#include "counters/sampler/ticker/perf_ticker.h"
#include "counters/sampler/ticker/timer_ticker.h"
#include "host/test/needs.h"

namespace nvmemu {
namespace {

std::atomic<int> ticks;
std::atomic<int> interrupted_waits;

void count_tick(int, siginfo_t*, void*) { ticks.fetch_add(1); }

int tid() { return static_cast<int>(syscall(SYS_gettid)); }

// Spins until the thread has used that much CPU time.
void burn_cpu_ms(double ms) {
  const std::uint64_t end = thread_cpu_ns() + static_cast<std::uint64_t>(ms * 1e6);
  while (thread_cpu_ns() < end) {
    for (int i = 0; i < 20000; ++i) asm volatile("");
  }
}

// Likewise, or until there have been so many ticks: where others run too, the kernel's own tick, at which it
// looks at timers, mostly finds one of these.
void burn_until(int wanted_ticks, double most_ms) {
  const std::uint64_t end = thread_cpu_ns() + static_cast<std::uint64_t>(most_ms * 1e6);
  while (ticks < wanted_ticks && thread_cpu_ns() < end) burn_cpu_ms(1);
}

class TickerTest : public testing::Test {
 protected:
  void SetUp() override {
    ticks = 0;
    struct sigaction action {};
    action.sa_sigaction = count_tick;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    ASSERT_EQ(sigaction(SIGWINCH, &action, &old_), 0);
  }
  void TearDown() override { sigaction(SIGWINCH, &old_, nullptr); }
  struct sigaction old_ {};
};

TEST_F(TickerTest, PerfEventSamplesABusyThread) {
  PerfTicker ticker;
  NVMEMU_NEEDS_PERF_EVENTS();
  ASSERT_EQ(ticker.open(tid(), 1000000, 2, SIGWINCH), 0);
  burn_cpu_ms(100);
  TickerSample taken[256];
  std::uint64_t lost = 0;
  const std::size_t samples = ticker.drain(taken, 256, lost);
  // 100 in theory; user mode only, and the kernel may take its share.
  EXPECT_GE(samples, 30u);
  EXPECT_LE(samples, 130u);
  EXPECT_EQ(lost, 0u);
  EXPECT_GE(ticks, 10);
  // One more may have come meanwhile.
  EXPECT_LT(ticker.drain(taken, 256, lost), samples / 2) << "drained samples must not come twice";
  ticker.close();
  const int before = ticks;
  burn_cpu_ms(30);
  EXPECT_EQ(ticks, before);
}

TEST_F(TickerTest, PerfEventTakesOneSampleAndGoesOnWhenItIsTold) {
  PerfTicker ticker;
  NVMEMU_NEEDS_PERF_EVENTS();
  const int before = ticks;
  ASSERT_EQ(ticker.open_for_one(tid(), 300000, SIGWINCH), 0);
  burn_cpu_ms(50);
  TickerSample taken[256];
  std::uint64_t lost = 0;
  EXPECT_EQ(ticker.drain(taken, 256, lost), 1u);
  EXPECT_EQ(ticks, before + 1);
  ASSERT_EQ(ticker.reopen(tid(), 1000000, 2, SIGWINCH), 0);
  burn_cpu_ms(50);
  EXPECT_GE(ticker.drain(taken, 256, lost), 10u);
  ticker.close();
}

TEST_F(TickerTest, PerfEventLeavesNoDescriptorBehind) {
  const int before = dup(0);
  close(before);
  PerfTicker ticker;
  NVMEMU_NEEDS_PERF_EVENTS();
  ASSERT_EQ(ticker.open(tid(), 1000000, 2, SIGWINCH), 0);
  const int after = dup(0);
  close(after);
  EXPECT_EQ(after, before);
  ticker.close();
}

TEST_F(TickerTest, DiscardDropsWhatWasSampled) {
  PerfTicker ticker;
  NVMEMU_NEEDS_PERF_EVENTS();
  ASSERT_EQ(ticker.open(tid(), 1000000, 2, SIGWINCH), 0);
  burn_cpu_ms(50);
  ticker.discard();
  TickerSample taken[256];
  std::uint64_t lost = 0;
  EXPECT_LE(ticker.drain(taken, 256, lost), 5u);
  ticker.close();
}

TEST_F(TickerTest, TimerTicksOnABusyThreadAndAccountsItsTime) {
  TimerTicker ticker;
  ASSERT_EQ(ticker.open(tid(), 4000000, SIGWINCH), 0);
  const std::uint64_t begin_ns = thread_cpu_ns();
  burn_until(5, 20e3);
  EXPECT_GE(ticks, 5);
  EXPECT_NEAR(ticker.take_cpu_ns(), static_cast<double>(thread_cpu_ns() - begin_ns), 20e6);
  ticker.restart();
  EXPECT_LT(ticker.take_cpu_ns(), 20e6);
  ticker.close();
}

TEST_F(TickerTest, ATimersFirstTickMayComeSoon) {
  TimerTicker ticker;
  ASSERT_EQ(ticker.open(tid(), 20'000'000'000, SIGWINCH, true), 0);
  const int before = ticks;
  burn_until(before + 1, 10e3);
  EXPECT_EQ(ticks, before + 1);
  ticker.close();
}

TEST_F(TickerTest, NeitherWakesABlockedThread) {
  std::atomic<int> errors{-1};
  std::thread sleeper([&] {
    PerfTicker perf;
    TimerTicker timer;
    const bool sampled = perf.open(tid(), 1000000, 1, SIGWINCH) == 0;  // refused or not
    timer.open(tid(), 4000000, SIGWINCH);
    timespec wait{.tv_sec = 0, .tv_nsec = 100000000};
    errors = nanosleep(&wait, nullptr);  // never restarted: an interruption would show
    timer.close();
    if (sampled) perf.close();
  });
  sleeper.join();
  EXPECT_EQ(errors, 0);
}

}  // namespace
}  // namespace nvmemu
