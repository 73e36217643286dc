// SPDX-License-Identifier: Apache-2.0
// `nvmemu run`, as the command and its caller see it.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "host/test/needs.h"

namespace nvmemu {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

using RunTest = CliTest;

constexpr unsigned long kPersonalityAsItIs = 0xffffffff;

TEST_F(RunTest, ExitsAsTheCommandDoes) {
  EXPECT_EQ(run_plainly({"true"}).status, 0);
  EXPECT_EQ(run_plainly({"false"}).status, 1);
  EXPECT_EQ(run_plainly({"sh", "-c", "exit 7"}).status, 7);
  EXPECT_EQ(run_plainly({"sh", "-c", "kill -9 $$"}).status, 137);
  EXPECT_EQ(report()["exit_status"], 137);
}

TEST_F(RunTest, LeavesStandardOutputToTheCommand) {
  const Outcome outcome = run_plainly({"printf", "a\\nb"});
  EXPECT_EQ(outcome.out, "a\nb");
  EXPECT_THAT(outcome.err, HasSubstr("nvmemu: read latency 100 ns -> 200 ns"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("\033")));
}

TEST_F(RunTest, PassesStandardInputThrough) {
  input_ = std::string(100'000, 'x') + "\n";
  EXPECT_EQ(run_plainly({"cat"}).out, input_);
}

TEST_F(RunTest, PassesArgumentsOfAnyKindOn) {
  const Outcome outcome =
      run_plainly({"printf", "<%s>", "[a,b]", "{}", "", "--help", "--", "info", "caf\xe9"});
  EXPECT_EQ(outcome.out, "<[a,b]><{}><><--help><--><info><caf\xe9>");
  EXPECT_EQ(report()["command"][8], "caf\xef\xbf\xbd");
}

TEST_F(RunTest, FixesAddressesWhereItIsAsked) {
  const int before = personality(kPersonalityAsItIs);
  NVMEMU_NEEDS(personality(before | ADDR_NO_RANDOMIZE) >= 0, "personality(2), which a sandbox refuses");
  personality(static_cast<unsigned long>(before));
  const std::vector<std::string> command{"--read-latency", "2x", "--", "cat", "/proc/self/personality"};
  std::vector<std::string> fixed{"--no-aslr"};
  fixed.insert(fixed.end(), command.begin(), command.end());
  const auto flags_of = [&](const std::vector<std::string>& words) {
    return std::stoul(run(words).out, nullptr, 16);
  };
  EXPECT_EQ(flags_of(command) & ADDR_NO_RANDOMIZE, before & ADDR_NO_RANDOMIZE);
  EXPECT_NE(flags_of(fixed) & ADDR_NO_RANDOMIZE, 0);
}

TEST_F(RunTest, NeedsNoMarkBeforeTheCommand) {
  const Outcome outcome = run({"--read-latency", "2x", "ls", "-d", "/"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "/\n");
}

TEST_F(RunTest, SaysNothingWhenQuiet) {
  const Outcome outcome =
      run({"--quiet", "--read-latency", "2x", "--write-latency", "1us", "--", "echo", "x"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "x\n");
  EXPECT_EQ(outcome.err, "");
}

// Counts in the file, which is written over and over.
std::string counter(const std::string& path, int most) {
  return "i=0; while [ $i -lt " + std::to_string(most) + " ]; do i=$((i+1)); echo done: $i >'" + path +
         "'; j=0; while [ $j -lt 100 ]; do j=$((j+1)); done; done";
}

TEST_F(RunTest, WindowsHaveTheProgressOfAFile) {
  constexpr int kMost = 5000;  // some tenths of a second
  const std::string path = folder_.file("done"), report_path = folder_.file("report.json");
  const Outcome outcome =
      run({"--read-latency", "2x", "--epoch", "10ms", "--alternate", "20ms", "--progress-file", path,
           "--report", report_path, "--", "sh", "-c", counter(path, kMost)});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(warnings(), Not(Contains(HasSubstr("no number"))));
  const json alternation = report()["alternation"];
  double done = 0;
  for (const json& window : alternation["windows"]) done += window["progress"].get<double>();
  EXPECT_GT(done, kMost / 2);  // all but the last window
  EXPECT_LE(done, kMost);
  EXPECT_GT(alternation["slowdown"]["median"], 0);
}

TEST_F(RunTest, WarnsOfAProgressFileThatSaysNothing) {
  const std::string report_path = folder_.file("report.json");
  for (const std::string& path : {folder_.file("none"), folder_.path(), folder_.write("text", "soon\n")}) {
    const Outcome outcome = run({"--read-latency", "2x", "--alternate", "20ms", "--progress-file", path,
                                 "--report", report_path, "--", "true"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(warnings(), Contains(AllOf(HasSubstr(path), HasSubstr("no number"))));
  }
}

TEST_F(RunTest, SaysWhatItDoesWhenVerbose) {
  const Outcome outcome = run({"--verbose", "--read-latency", "2x", "--", "true"});
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("preloading "), HasSubstr("target 200 ns"), HasSubstr("/true")));
}

TEST_F(RunTest, RemovesItsBoard) {
  run_plainly({"true"});
  run_plainly({"sh", "-c", "kill -9 $$"});
  EXPECT_THAT(boards(), IsEmpty());
}

TEST_F(RunTest, PutsTheLibraryBeforeWhatIsPreloadedAnyway) {
  environment_["LD_PRELOAD"] = NVMEMU_TEST_EMPTY_LIBRARY;
  const Outcome outcome = run_plainly({"sh", "-c", "echo $LD_PRELOAD"});
  EXPECT_THAT(outcome.out, testing::EndsWith("libnvmemu-preload.so:" NVMEMU_TEST_EMPTY_LIBRARY "\n"));
}

TEST_F(RunTest, ReportsWhatTheRunWas) {
  run({"--read-latency", "250ns", "--report", folder_.file("report.json"), "--", "sh", "-c",
       "/bin/true; exit 3"});
  const json run = report();
  EXPECT_EQ(run["schema"], "nvmemu-run-1");
  EXPECT_EQ(run["command"], json({"sh", "-c", "/bin/true; exit 3"}));
  EXPECT_EQ(run["exit_status"], 3);
  EXPECT_GT(run["wall_seconds"], 0);
  EXPECT_EQ(run["source"]["name"], "sampler");
  EXPECT_NE(run["source"]["why"], "");
  EXPECT_EQ(run["model"], "stall");
  EXPECT_EQ(run["base"]["read_latency_ns"], 100);
  EXPECT_EQ(run["base"]["read_latency_spread"], 0);
  EXPECT_EQ(run["target"]["read_latency_ns"], 250);
}

TEST_F(RunTest, ReportsEveryProcess) {
  run_plainly({"sh", "-c", "/bin/true; /bin/true"});
  const json run = report();
  ASSERT_EQ(run["processes"].size(), 3U);
  const json& shell = run["processes"][0];
  EXPECT_EQ(shell["command"], "sh -c /bin/true; /bin/true");
  EXPECT_EQ(run["processes"][1]["ppid"], shell["pid"]);
  EXPECT_EQ(shell["threads"][0]["tid"], shell["pid"]);
}

TEST_F(RunTest, ClaimsNoErrorWhereNothingWasMeasured) {
  run_plainly({"true"});
  const json run = report();
  const json& error = run["error"];
  if (run["totals"]["samples"] == 0) {  // so short a run may be met by a tick or two
    EXPECT_EQ(error["from"], "nothing was measured");
    EXPECT_TRUE(error["relative_95"].is_null());
    EXPECT_THAT(warnings(), Contains(HasSubstr("no stall was sampled")));
  }
  EXPECT_TRUE(error["relative_95"].is_null() || error["relative_95"] > 0);
}

TEST_F(RunTest, TakesTheTargetOfAProfile) {
  run({"--profile", "optane-dcpmm", "--report", folder_.file("report.json"), "--", "true"});
  EXPECT_EQ(report()["target"]["profile"], "optane-dcpmm");
  EXPECT_GT(report()["target"]["read_latency_ns"], 200);
}

TEST_F(RunTest, WarnsWherePersistsAreNotSlowedOrNotSeen) {
  const std::string file = folder_.write("m.toml", "read_latency = \"300ns\"\nwrite_latency = \"150ns\"\n");
  const Outcome outcome = run({"--profile", file, "--report", folder_.file("report.json"), "--", "true"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.err, HasSubstr("a persist of 150 ns is no longer than this machine's own, 200 ns"));
  EXPECT_EQ(report()["target"]["write_latency_ns"], 150);
  run({"--write-latency", "3x", "--report", folder_.file("report.json"), "--", "true"});
  EXPECT_EQ(report()["target"]["write_latency_ns"], 600);
  EXPECT_EQ(report()["persists"]["persists"], 0);
  EXPECT_THAT(warnings(), Contains(HasSubstr("no persist was seen")));
}

TEST_F(RunTest, WarnsWhereTheLibraryDidNotComeToTheBoard) {
  environment_["NVMEMU_PRELOAD"] = NVMEMU_TEST_EMPTY_LIBRARY;
  const Outcome outcome = run_plainly({"true"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.err, HasSubstr("nvmemu: warning: the program ran natively"));
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("the program ran natively")));
  EXPECT_EQ(report()["processes"], json::array());
}

TEST_F(RunTest, IsNotQuietAboutACommandThatRanNatively) {
  environment_["NVMEMU_PRELOAD"] = NVMEMU_TEST_EMPTY_LIBRARY;
  EXPECT_THAT(run({"--quiet", "--read-latency", "2x", "--", "true"}).err,
              HasSubstr("the program ran natively"));
}

TEST_F(RunTest, KeepsTheCommandsExitStatusWhereTheReportCannotBeWritten) {
  const Outcome outcome = run({"--read-latency", "2x", "--report", "/dev/full", "--", "sh", "-c", "exit 4"});
  EXPECT_EQ(outcome.status, 4);
  EXPECT_THAT(outcome.err, HasSubstr("cannot write /dev/full: No space left"));
}

TEST_F(RunTest, FailsWhereTheCommandSucceedsAndTheReportCannotBeWritten) {
  const Outcome outcome = run({"--read-latency", "2x", "--report", "/dev/full", "--", "true"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, HasSubstr("cannot write /dev/full: No space left"));
}

TEST_F(RunTest, WritesTheReportToItsStandardErrorToo) {
  const Outcome outcome = run(
      {"--quiet", "--read-latency", "2x", "--report", "/dev/stderr", "--", "sh", "-c", "echo before >&2"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.err, testing::StartsWith("before\n{"));
  EXPECT_THAT(outcome.err, HasSubstr("nvmemu-run-1"));
}

TEST_F(RunTest, WarnsOfAVariableThatMeansNothing) {
  environment_["NVMEMU_RAED_LATENCY"] = "300ns";
  const Outcome outcome = run({"--read-latency", "2x", "--", "true"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.err, HasSubstr("did you mean NVMEMU_READ_LATENCY?"));
}

TEST_F(RunTest, ReplacesAnEarlierReport) {
  folder_.write("report.json", std::string(50'000, 'x'));
  run_plainly({"true"});
  EXPECT_EQ(report()["schema"], "nvmemu-run-1");
}

TEST_F(RunTest, RunsScriptsByTheirInterpreter) {
  const std::string plain = folder_.write("plain", "#!/bin/sh\necho plain $1\n", 0755);
  const std::string by_env = folder_.write("by-env", "#!/usr/bin/env sh\necho by env $1\n", 0755);
  EXPECT_EQ(run_plainly({plain, "x"}).out, "plain x\n");
  EXPECT_EQ(run_plainly({by_env, "x"}).out, "by env x\n");
}

TEST_F(RunTest, WorksWithStandardErrorClosed) {
  const pid_t pid = fork();
  if (pid == 0) {
    close(STDERR_FILENO);
    execl(NVMEMU_TEST_BINARY, "nvmemu", "run", "--base-latency", "100ns", "--read-latency", "2x", "--report",
          folder_.file("report.json").c_str(), "--", "sh", "-c", "exit 6", nullptr);
    _exit(99);
  }
  EXPECT_EQ(finish(pid).status, 6);
  EXPECT_EQ(report()["exit_status"], 6);  // and not the summary
}

// A command that says on a pipe when it is ready for a signal.
class SignalTest : public RunTest, public testing::WithParamInterface<int> {
 protected:
  // Starts nvmemu on that shell script, in which "ready" writes to the pipe, and returns when it has.
  pid_t start_script(const std::string& script) {
    const std::string fifo = folder_.file("ready");
    EXPECT_EQ(mkfifo(fifo.c_str(), 0600), 0);
    const int fd = open(fifo.c_str(), O_RDWR | O_CLOEXEC);
    const pid_t pid =
        start({"run", "--base-latency", "100ns", "--read-latency", "2x", "--report",
               folder_.file("report.json"), "--", "sh", "-c", "ready() { echo > " + fifo + "; }; " + script});
    pollfd ready{fd, POLLIN, 0};
    EXPECT_EQ(poll(&ready, 1, 60'000), 1) << "the command did not start";
    close(fd);
    return pid;
  }
};

TEST_P(SignalTest, IsPassedOnToTheCommand) {
  const std::string number = std::to_string(GetParam());
  const pid_t pid = start_script("trap 'exit 42' " + number + "; ready; while :; do sleep 0.01; done");
  kill(pid, GetParam());
  EXPECT_EQ(finish(pid).status, 42);
  EXPECT_EQ(report()["exit_status"], 42);
}

TEST_P(SignalTest, ThatEndsTheCommandShowsInTheExitStatus) {
  const pid_t pid = start_script("ready; while :; do sleep 0.01; done");
  kill(pid, GetParam());
  EXPECT_EQ(finish(pid).status, 128 + GetParam());
  EXPECT_THAT(boards(), IsEmpty());
}

// Whether to its parent, as here, or to its group.
TEST_P(SignalTest, ThatTheCommandHasSentDoesNotComeBack) {
  const std::string number = std::to_string(GetParam());
  const pid_t pid =
      start_script("trap 'exit 41' " + number + "; ready; kill -" + number + " $PPID; sleep 0.1; exit 42");
  EXPECT_EQ(finish(pid).status, 42);
}

INSTANTIATE_TEST_SUITE_P(Forwarded, SignalTest,
                         testing::Values(SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM),
                         [](const auto& test) { return std::string(sigabbrev_np(test.param)); });

TEST_F(RunTest, PassesOnTheAlarmOfWhoBecameIt) {
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(1);
    execl(NVMEMU_TEST_BINARY, "nvmemu", "run", "--base-latency", "100ns", "--read-latency", "2x", "--quiet",
          "--", "sh", "-c", "trap 'exit 43' ALRM; while :; do sleep 0.01; done", nullptr);
    _exit(99);
  }
  EXPECT_EQ(finish(pid).status, 43);
}

TEST_F(RunTest, RunsWhereTheCallerIgnoresChildren) {
  signal(SIGCHLD, SIG_IGN);
  const pid_t pid =
      start({"run", "--base-latency", "100ns", "--read-latency", "2x", "--", "sh", "-c", "exit 5"});
  signal(SIGCHLD, SIG_DFL);
  EXPECT_EQ(finish(pid).status, 5);
}

}  // namespace
}  // namespace nvmemu
