// SPDX-License-Identifier: Apache-2.0
// The preload library in a real process: what it must do there, and what it must leave alone. See guest.cc
// for what each scenario checks from within.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "host/test/needs.h"
#include "preload_cli.h"

namespace nvmemu {
namespace {

class LeavesAlone : public PreloadTest, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    PreloadTest::SetUp();
    if (std::string_view(GetParam()) == "own-breakpoints") NVMEMU_NEEDS_WATCHPOINTS();
    if (std::string_view(GetParam()) == "strict-mode") NVMEMU_NEEDS_NO_SECCOMP_FILTER();
    if (std::string_view(GetParam()) == "served-pages") NVMEMU_NEEDS_USERFAULTFD();
  }
};

TEST_P(LeavesAlone, WithSamplesOfPerfEvent) { expect_ok(GetParam()); }
TEST_P(LeavesAlone, WithSamplesOfPosixTimers) { expect_ok(GetParam(), {"--ticker", "timer"}); }
TEST_P(LeavesAlone, UnderABandwidth) { expect_ok(GetParam(), {"--read-bandwidth", "500MB/s"}); }
TEST_P(LeavesAlone, WithItsMemoryPaged) {
  NVMEMU_NEEDS_PAGING();
  // Its handlers need more of the program's own signal stack, nobody else's userfaultfd goes with its own,
  // and its signals cannot be blocked.
  const std::string_view name(GetParam());
  if (name == "small-alternate-stack" || name == "handler-on-tight-stack" || name == "served-pages" ||
      name == "pending-faults")
    GTEST_SKIP() << "docs/pager.md says so of it";
  expect_ok(GetParam(), {"--dram", "128M"});  // the lists that they walk fit in
}
TEST_P(LeavesAlone, WithAllFilesOnOtherStorage) { expect_ok(GetParam(), {"--storage", "/=ssd-nvme"}); }
TEST_P(LeavesAlone, WithoutWalks) { expect_ok(GetParam(), {"--no-walks"}); }

INSTANTIATE_TEST_SUITE_P(
    Programs, LeavesAlone,
    testing::Values("own-signals", "own-faults", "sent-faults", "blocked-signals", "errno", "hot-errno",
                    "sleep", "spawn", "threads", "fork", "exec", "burn", "alternate-stacks", "alarms",
                    "real-time-signals", "waited-for-signals", "waited-for-window-changes",
                    "waits-beside-another", "own-dispatch", "own-breakpoints", "own-thread-pointer",
                    "c11-threads", "cloned-threads", "unseen-thread", "cloned-process", "llvm-openmp",
                    "small-alternate-stack", "main-thread-stack", "smallest-thread-stacks", "coroutine-stack",
                    "cloned-thread-stack", "handler-on-tight-stack", "old-signals", "raw-signals",
                    "blocked-as-seen", "masks-end-with-handlers", "thrown-from-fault", "thrown-from-alarm",
                    "raises-in-untold-children", "handler-masks", "pending-faults", "jumps-from-handlers",
                    "strict-mode", "kill-all-else", "kill-all-else-everywhere", "served-pages", "no-tickers",
                    "no-tickers-trapped", "no-renames", "no-memory-files", "exec-without-memory-files",
                    "exec-without-tickers", "exec-without-renames", "refused-filters",
                    "refused-filters-of-nobody"));

TEST_F(PreloadTest, OfThreadsWithOneAlternateStackOneIsEmulated) {
  expect_ok("shared-alternate-stack");
  EXPECT_NE(report()["warnings"].dump().find("in common"), std::string::npos) << report()["warnings"];
}

TEST_F(PreloadTest, EachThreadIsEmulatedAndReported) {
  expect_ok("threads");
  const std::vector<Json> all = threads();
  ASSERT_EQ(all.size(), 7u);
  for (const Json& thread : all) {
    EXPECT_TRUE(thread["ended"]) << thread;
    EXPECT_GE(thread["epochs"], 1) << thread;
  }
}

// The threads of the report other than the first, which only waits: perf_event's samples come to threads that
// nothing tells of, POSIX timers are for known ones.
class ForeignThreads : public PreloadTest {
 protected:
  void SetUp() override {
    PreloadTest::SetUp();
    NVMEMU_NEEDS_PERF_EVENTS();
  }
  void expect_emulated(std::size_t count) {
    const std::vector<Json> all = threads();
    ASSERT_EQ(all.size(), 1 + count) << report();
    for (std::size_t i = 1; i < all.size(); ++i) {
      EXPECT_GE(all[i]["epochs"], kSomeEpochs) << all[i];
      EXPECT_GE(all[i]["cpu_ns"], 100e6) << all[i];  // of 300 ms
    }
  }
};

TEST_F(ForeignThreads, OfCloneAreEmulated) {
  expect_ok("cloned-threads");
  expect_emulated(2);
  for (const Json& thread : threads()) EXPECT_TRUE(thread["ended"]) << thread;
}

TEST_F(ForeignThreads, ThatNothingToldOfAreFound) {
  expect_ok("unseen-thread");
  expect_emulated(1);
}

TEST_F(PreloadTest, EpochsFollowCpuTime) {
  expect_ok("burn");
  // 120 ms of CPU time in epochs of 10: about 12. Many are lost where the host takes the processor away.
  EXPECT_GE(report()["totals"]["epochs"], kSomeEpochs);
  EXPECT_LE(report()["totals"]["epochs"], 16);
  EXPECT_GE(report()["totals"]["cpu_ns"], 100e6);
}

// What is left is the last one, when the thread ends.
TEST_F(PreloadTest, NoEpochEndsWhileTheProgramHoldsTheEmulator) {
  expect_ok("held");
  EXPECT_EQ(report()["totals"]["epochs"], 1);
  EXPECT_GE(report()["totals"]["cpu_ns"], 100e6);
}

// Four releases, each after some epochs' time, and the last one: 24 would have ended otherwise. A host that
// takes the processor away between a release and the next hold makes one more.
TEST_F(PreloadTest, ReleasingItEndsTheEpochThatWasPostponed) {
  expect_ok("held-and-released");
  EXPECT_GE(report()["totals"]["epochs"], 3);
  EXPECT_LE(report()["totals"]["epochs"], 9);
}

// By perf_event: POSIX timers can expire inside a call, as README says.
TEST_F(PreloadTest, CallsThatWaitAreNotInterrupted) {
  expect_ok("uninterrupted-calls");
  EXPECT_GE(report()["totals"]["epochs"], kSomeEpochs);
}

TEST_F(PreloadTest, AProgramThatTakesAllDebugRegistersIsEmulated) {
  NVMEMU_NEEDS_WATCHPOINTS();
  expect_ok("own-breakpoints");
  EXPECT_GE(report()["totals"]["epochs"], kSomeEpochs);
}

TEST_F(PreloadTest, WhereNothingIsWalkedTheReportSaysHowCacheHitsAreCharged) {
  const auto is_warned_of = [this](const std::vector<std::string>& options) {
    expect_ok("burn", options);
    return report()["warnings"].dump().find("cache hits are charged like memory") != std::string::npos;
  };
  EXPECT_TRUE(is_warned_of({"--source", "sampler", "--no-walks"})) << report();
  EXPECT_FALSE(is_warned_of({"--source", "sampler"})) << report();
}

TEST_F(PreloadTest, DelaysGoOffAndOnAndWhatIsDoneIsToldByWindow) {
  expect_ok("tells-progress", {"--alternate", "20ms"});
  const Json alternation = report()["alternation"];
  EXPECT_EQ(alternation["window_seconds"], 0.02);
  const Json& windows = alternation["windows"];
  ASSERT_GE(windows.size(), 4u) << alternation;
  double done = 0;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    EXPECT_EQ(windows[i]["delays"], i % 2 == 1);
    EXPECT_GE(windows[i]["seconds"], 0.02);
    done += windows[i]["progress"].get<double>();
  }
  EXPECT_GT(done, 0);
  EXPECT_LE(done, 100);
}

// What comes from them is compared with what has delays: 40 samples a second there, a thousand and walks
// here.
TEST_F(PreloadTest, WindowsWithoutDelaysAreHardlyMeasured) {
  const Outcome outcome = run({"--quiet", "--source", "sampler", "--read-latency", "4x", "--alternate",
                               "100ms", "--epoch", "10ms", "--report", folder_.file("report.json"), "--",
                               NVMEMU_TEST_TIERS, "chain", "--size", "64MiB", "--steps", "3000000"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  double with = 0, without = 0;
  const Json alternation = report()["alternation"];
  for (const Json& window : alternation["windows"])
    (window["delays"].get<bool>() ? with : without) +=
        window["measuring"].get<double>() * window["cpu_seconds"].get<double>();
  EXPECT_GT(with, 0) << alternation;
  EXPECT_LT(without, with / 2) << alternation;
}

TEST_F(PreloadTest, TenThousandThreadsRunAtOnce) { expect_ok("ten-thousand-threads"); }

TEST_F(PreloadTest, AProgramThatBlocksAllSignalsHasEpochs) {
  expect_ok("blocked-signals");
  EXPECT_GE(report()["totals"]["epochs"], kSomeEpochs);
}

TEST_F(PreloadTest, TheProgramsDescriptorsAreWhatTheyWouldBe) {
  const Outcome native = finish(start_program({NVMEMU_TEST_GUEST, "descriptors"}));
  const Outcome emulated = guest("descriptors");
  EXPECT_EQ(emulated.status, 0) << emulated.err;
  EXPECT_EQ(emulated.out, native.out);
  EXPECT_GE(report()["totals"]["epochs"], kSomeEpochs);
}

// Two seconds here; by hand for as long as its argument says.
TEST_F(PreloadTest, ThreadsThatStartStopLockAndForkAllAtOnceComeThrough) {
  const Outcome outcome = run({"--quiet", "--read-latency", "5x", "--", NVMEMU_TEST_STRESS, "2"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "ok\n");
}

}  // namespace
}  // namespace nvmemu
