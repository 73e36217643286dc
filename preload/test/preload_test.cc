// SPDX-License-Identifier: Apache-2.0
// The preload library in a real process: what it must do there, and what it must leave alone. See guest.cc
// for what each scenario checks from within.
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "cli.h"
#include "host/test/needs.h"

namespace nvmemu {
namespace {

using Json = nlohmann::json;

// More than the last one: samples came, and ended some.
constexpr int kSomeEpochs = 2;

class PreloadTest : public CliTest {
 protected:
  // The guest under `nvmemu run`, in epochs of 10 ms.
  Outcome guest(const std::string& scenario, std::vector<std::string> options = {}) {
    options.insert(options.end(), {"--quiet", "--read-latency", "5x", "--epoch", "10ms", "--report",
                                   folder_.file("report.json"), "--", NVMEMU_TEST_GUEST, scenario});
    return run(options);
  }
  void expect_ok(const std::string& scenario, std::vector<std::string> options = {}) {
    const Outcome outcome = guest(scenario, std::move(options));
    EXPECT_EQ(outcome.status, 0) << scenario << ": " << outcome.err;
    EXPECT_TRUE(outcome.out.ends_with("ok\n")) << scenario << ": " << outcome.out;
    EXPECT_EQ(outcome.err, "") << scenario;
  }
  std::vector<Json> threads() const {
    std::vector<Json> all;
    const Json whole = report();
    for (const Json& process : whole["processes"]) {
      for (const Json& thread : process["threads"]) all.push_back(thread);
    }
    return all;
  }
};

class LeavesAlone : public PreloadTest, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    PreloadTest::SetUp();
    if (std::string_view(GetParam()) == "own-breakpoints") NVMEMU_NEEDS_BREAKPOINTS();
  }
};

TEST_P(LeavesAlone, WithSamplesOfPerfEvent) { expect_ok(GetParam()); }
TEST_P(LeavesAlone, WithSamplesOfPosixTimers) { expect_ok(GetParam(), {"--ticker", "timer"}); }
TEST_P(LeavesAlone, UnderABandwidth) { expect_ok(GetParam(), {"--read-bandwidth", "500MB/s"}); }
TEST_P(LeavesAlone, WithoutWalks) { expect_ok(GetParam(), {"--no-walks"}); }
TEST_P(LeavesAlone, WithoutWalksAndProbes) { expect_ok(GetParam(), {"--no-walks", "--no-probes"}); }

INSTANTIATE_TEST_SUITE_P(
    Programs, LeavesAlone,
    testing::Values("own-signals", "own-faults", "blocked-signals", "errno", "hot-errno", "sleep", "spawn",
                    "threads", "fork", "exec", "burn", "alternate-stacks", "alarms", "real-time-signals",
                    "waited-for-signals", "own-breakpoints", "own-thread-pointer", "c11-threads",
                    "cloned-threads", "unseen-thread", "cloned-process", "stray-breakpoint", "llvm-openmp",
                    "small-alternate-stack", "smallest-thread-stacks", "coroutine-stack", "old-signals",
                    "raw-signals", "blocked-as-seen", "thrown-from-fault", "handler-masks",
                    "jumps-from-handlers", "strict-mode", "kill-all-else", "kill-all-else-everywhere",
                    "no-tickers", "no-tickers-trapped", "exec-without-tickers"));

TEST_F(PreloadTest, EachThreadIsEmulatedAndReported) {
  expect_ok("threads");
  const std::vector<Json> all = threads();
  ASSERT_EQ(all.size(), 7u);
  for (const Json& thread : all) {
    EXPECT_TRUE(thread["ended"]) << thread;
    EXPECT_GE(thread["epochs"], 1) << thread;
  }
}

// The threads of the report other than the first, which only waits.
class ForeignThreads : public PreloadTest {
 protected:
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

TEST_F(PreloadTest, ACloneThatIsAProcessIsOneOfItsOwn) {
  expect_ok("cloned-process");
  const Json processes = report()["processes"];
  ASSERT_EQ(processes.size(), 3u);  // by clone(), and by syscall()
  for (const Json& process : processes) EXPECT_GE(process["threads"][0]["epochs"], kSomeEpochs) << process;
  for (const Json& thread : threads()) EXPECT_TRUE(thread["ended"]) << thread;
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

// Four releases, each after some epochs' time, and the last one: 24 would have ended otherwise.
TEST_F(PreloadTest, ReleasingItEndsTheEpochThatWasPostponed) {
  expect_ok("held-and-released");
  EXPECT_GE(report()["totals"]["epochs"], 3);
  EXPECT_LE(report()["totals"]["epochs"], 5);
}

// By perf_event: POSIX timers can expire inside a call, as README says.
TEST_F(PreloadTest, CallsThatWaitAreNotInterrupted) {
  expect_ok("uninterrupted-calls");
  EXPECT_GE(report()["totals"]["epochs"], kSomeEpochs);
}

TEST_F(PreloadTest, AProgramThatTakesAllDebugRegistersIsEmulated) {
  NVMEMU_NEEDS_BREAKPOINTS();
  expect_ok("own-breakpoints");
  EXPECT_GE(report()["totals"]["epochs"], kSomeEpochs);
}

// A seccomp filter is looked at before it is installed.
TEST_F(PreloadTest, UnderAFilterItGoesOnWithWhatItMayDo) {
  expect_ok("no-tickers");
  const std::vector<Json> all = threads();
  ASSERT_GE(all.size(), 1u);
  // Of 300 ms, 200 of them under the filter.
  EXPECT_GE(all[0]["cpu_ns"].get<double>() + all[0]["injected_ns"].get<double>(), 250e6) << all[0];
  EXPECT_NE(report()["warnings"].dump().find("seccomp filter does not let through all"), std::string::npos);
}
TEST_F(PreloadTest, UnderAFilterThatAllowsNothingItGoesOnNatively) {
  for (const char* scenario : {"strict-mode", "kill-all-else", "kill-all-else-everywhere"}) {
    expect_ok(scenario);
    EXPECT_NE(report()["warnings"].dump().find("seccomp filter does not let through what"), std::string::npos)
        << report()["warnings"];
  }
}

TEST_F(PreloadTest, WhereTicksAreLostTheReportSaysSo) {
  for (const char* ticker : {"perf", "timer"}) {
    expect_ok("ticks-blocked-behind-its-back", {"--ticker", ticker});
    EXPECT_NE(report()["warnings"].dump().find("samples stand for"), std::string::npos) << report();
    EXPECT_TRUE(report()["error"]["relative_95"].is_null()) << report()["error"];
  }
}

TEST_F(PreloadTest, WhereTicksOfOneThreadAreLostTheReportSaysSo) {
  expect_ok("ticks-blocked-in-one-of-four");
  EXPECT_NE(report()["warnings"].dump().find("1 of 5 threads: of "), std::string::npos) << report();
  EXPECT_TRUE(report()["error"]["relative_95"].is_null()) << report()["error"];
}

TEST_F(PreloadTest, AFaultOfTheEmulatorsIsCalledThatAndTheProgramGoesOn) {
  const Outcome outcome = guest("emulator-faults");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("not your program: signal 11 at libnvmemu-preload.so+0x"), std::string::npos)
      << outcome.err;
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

TEST_F(PreloadTest, ForksAreProcessesOfTheirOwn) {
  expect_ok("fork");
  const Json processes = report()["processes"];
  ASSERT_EQ(processes.size(), 2u);
  EXPECT_EQ(processes[1]["ppid"], processes[0]["pid"]);
  for (const Json& thread : threads()) EXPECT_TRUE(thread["ended"]) << thread;
}

TEST_F(PreloadTest, ExecKeepsTheEmulation) {
  expect_ok("exec");
  const Json processes = report()["processes"];
  ASSERT_EQ(processes.size(), 3u);  // the guest, sh, the guest
  EXPECT_EQ(processes[0]["pid"], processes[2]["pid"]);
  EXPECT_GE(processes[2]["threads"][0]["epochs"], kSomeEpochs);
}

// The process that ran `scenario` last, and was emulated.
class KeepsTheEmulation : public PreloadTest, public testing::WithParamInterface<const char*> {};

TEST_P(KeepsTheEmulation, OfAProgramThatIsGivenAnotherEnvironment) {
  const Outcome outcome = guest(GetParam());
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(outcome.out.ends_with("ok\n")) << outcome.out;
  const Json processes = report()["processes"];
  ASSERT_EQ(processes.size(), 2u) << processes;
  EXPECT_GE(processes[1]["threads"][0]["epochs"], kSomeEpochs);
}

INSTANTIATE_TEST_SUITE_P(Programs, KeepsTheEmulation,
                         testing::Values("exec-environment", "exec-own-preload", "exec-clearenv",
                                         "spawn-environment", "vfork-environment"));

TEST_F(PreloadTest, AProgramThatCannotBeStartedIsNotInTheReport) {
  expect_ok("exec-nothing");
  EXPECT_EQ(report()["processes"].size(), 1u);
}

TEST_F(PreloadTest, AProgramThatCannotBePreloadedIntoRunsNativelyAndIsNamed) {
  for (const char* scenario : {"exec-static", "spawn-static"}) {
    expect_ok(scenario);
    const Json whole = report();
    const Json& last = whole["processes"].back();
    EXPECT_EQ(last["emulated"], false) << scenario;
    EXPECT_EQ(last["command"], NVMEMU_TEST_STATIC_PROGRAM) << scenario;
    EXPECT_NE(whole["warnings"].dump().find("ran natively"), std::string::npos) << whole["warnings"];
  }
}

TEST_F(PreloadTest, AProgramLinkedWithNoLibraryRunsNativelyAndIsNamed) {
  const Outcome outcome = run({"--read-latency", "5x", "--epoch", "10ms", "--report",
                               folder_.file("report.json"), "--", NVMEMU_TEST_NO_LIBRARIES});
  EXPECT_EQ(outcome.status, 7) << outcome.err;
  EXPECT_NE(outcome.err.find("linked with no library"), std::string::npos) << outcome.err;
  const Json processes = report()["processes"];
  ASSERT_EQ(processes.size(), 1u);
  EXPECT_EQ(processes[0]["emulated"], false);
  EXPECT_TRUE(processes[0]["threads"].empty());
}

TEST_F(PreloadTest, TheReportHasWhatOutlivesTheCommand) {
  expect_ok("outlived");
  const Json processes = report()["processes"];
  ASSERT_EQ(processes.size(), 3u);
  EXPECT_GE(processes[2]["threads"][0]["epochs"], kSomeEpochs);
  EXPECT_TRUE(processes[2]["threads"][0]["ended"]);
}

TEST_F(PreloadTest, WhatOutlivesTheCommandNeedNotBeWaitedFor) {
  expect_ok("outlived", {"--no-wait"});
  EXPECT_NE(report()["warnings"].dump().find("still run"), std::string::npos);
}

// Two seconds here; by hand for as long as its argument says.
TEST_F(PreloadTest, ThreadsThatStartStopLockAndForkAllAtOnceComeThrough) {
  const Outcome outcome = run({"--quiet", "--read-latency", "5x", "--", NVMEMU_TEST_STRESS, "2"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "ok\n");
}

struct End {
  const char* scenario;
  int status;
  bool last_epoch;
};
void PrintTo(const End& end, std::ostream* out) { *out << end.scenario; }

class EndsAs : public PreloadTest, public testing::WithParamInterface<End> {};

TEST_P(EndsAs, ItWouldWithoutTheEmulation) {
  const End& end = GetParam();
  const Outcome outcome = guest(end.scenario);
  EXPECT_EQ(outcome.status, end.status) << outcome.err;
  const std::vector<Json> all = threads();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0]["ended"], end.last_epoch);
  EXPECT_GE(all[0]["epochs"], kSomeEpochs);
}

INSTANTIATE_TEST_SUITE_P(Programs, EndsAs,
                         testing::Values(End{"exit", 11, true}, End{"_exit", 12, true},
                                         End{"quick_exit", 13, true}, End{"fault", 128 + 11, true},
                                         End{"terminated", 128 + 15, true}, End{"abort", 128 + 6, true},
                                         End{"alarm", 128 + 14, true}, End{"division", 128 + 8, true},
                                         End{"int1", 128 + 5, true}, End{"killed", 128 + 9, false}),
                         [](const auto& instance) {
                           std::string name = instance.param.scenario;
                           std::replace(name.begin(), name.end(), '_', 'U');
                           return name;
                         });

TEST_F(PreloadTest, ATrapThatNobodyHandlesEndsTheProgram) {
  EXPECT_EQ(guest("default-trap").status, 128 + 5);
}

TEST_F(PreloadTest, AnIgnoredSignalStaysIgnored) {
  const Outcome outcome =
      finish(start_program({"/usr/bin/nohup", NVMEMU_TEST_BINARY, "run", "--quiet", "--read-latency", "5x",
                            "--", NVMEMU_TEST_GUEST, "ignored-hangup"}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
}

class WithoutTheTool : public PreloadTest {
 protected:
  Outcome preloaded(const std::string& scenario) {
    environment_["LD_PRELOAD"] = NVMEMU_TEST_LIBRARY;
    return start_guest(scenario);
  }
  Outcome start_guest(const std::string& scenario) {
    return finish(start_program({NVMEMU_TEST_GUEST, scenario}));
  }
};

TEST_F(WithoutTheTool, TheFirstProcessReportsOnItselfAndItsChildren) {
  environment_["NVMEMU_READ_LATENCY"] = "500ns";
  environment_["NVMEMU_REPORT"] = folder_.file("report.json");
  const Outcome outcome = preloaded("fork");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "ok\n");
  EXPECT_NE(outcome.err.find("nvmemu: read latency 100 ns -> 500 ns"), std::string::npos) << outcome.err;
  EXPECT_EQ(report()["processes"].size(), 2u);
  EXPECT_TRUE(boards().empty());
}

TEST_F(WithoutTheTool, AVariableThatMakesNoSenseIsSaidOnceAndTheProgramRunsNatively) {
  environment_["NVMEMU_READ_LATENCY"] = "300";
  const Outcome outcome = preloaded("native");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "ok\n");
  EXPECT_NE(outcome.err.find("NVMEMU_READ_LATENCY"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("natively"), std::string::npos) << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

TEST_F(WithoutTheTool, AVariableThatMeansNothingIsSaidOnce) {
  environment_["NVMEMU_READ_LATENCY"] = "500ns";
  environment_["NVMEMU_QUITE"] = "1";
  const Outcome outcome = preloaded("fork");
  EXPECT_EQ(outcome.out, "ok\n");
  const auto said = outcome.err.find("'NVMEMU_QUITE' in the environment is nothing that nvmemu knows");
  ASSERT_NE(said, std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("NVMEMU_QUITE", said + 20), std::string::npos) << outcome.err;
}

TEST_F(WithoutTheTool, ATargetBelowTheBaseIsRefusedAndTheProgramRunsNatively) {
  environment_["NVMEMU_READ_LATENCY"] = "50ns";
  const Outcome outcome = preloaded("native");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "ok\n");
  EXPECT_NE(outcome.err.find("asks for 50 ns, and this machine's memory already takes 100 ns"),
            std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("natively"), std::string::npos) << outcome.err;
}

// What a program opens as its descriptor 2 is its own.
TEST_F(WithoutTheTool, NothingIsWrittenIntoAFileThatTheProgramOpenedAsStandardError) {
  environment_["NVMEMU_READ_LATENCY"] = "500ns";
  environment_["LD_PRELOAD"] = NVMEMU_TEST_LIBRARY;
  const Outcome outcome =
      finish(start_program({"/bin/sh", "-c", "exec 2> " + folder_.file("data") + "; echo own >&2"}));
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(folder_.read("data"), "own\n");
  EXPECT_EQ(outcome.err, "");
}

TEST_F(WithoutTheTool, WithoutACalibrationTheProgramRunsNatively) {
  environment_["NVMEMU_READ_LATENCY"] = "500ns";
  environment_["NVMEMU_CALIBRATION"] = folder_.file("nothing.toml");
  const Outcome outcome = preloaded("native");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("nothing.toml"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("nvmemu calibrate"), std::string::npos) << outcome.err;
}

TEST_F(WithoutTheTool, AProgramLinkedWithNoLibraryIsToldThatItRunsNatively) {
  environment_["NVMEMU_READ_LATENCY"] = "500ns";
  environment_["LD_PRELOAD"] = NVMEMU_TEST_LIBRARY;
  const Outcome outcome = finish(start_program({NVMEMU_TEST_NO_LIBRARIES}));
  EXPECT_EQ(outcome.status, 7);
  EXPECT_NE(outcome.err.find("runs natively"), std::string::npos) << outcome.err;
}

TEST_F(WithoutTheTool, NothingToEmulateIsSaid) {
  const Outcome outcome = preloaded("native");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.err.find("NVMEMU_READ_LATENCY"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace nvmemu
