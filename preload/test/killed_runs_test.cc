// SPDX-License-Identifier: Apache-2.0
// Of a run whose nvmemu is killed nothing is left behind, whenever that is; and its command goes on.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "preload_cli.h"

namespace nvmemu {
namespace {

using Options = std::vector<std::string>;

void nap_ms(long ms) {
  const timespec time{.tv_sec = 0, .tv_nsec = ms * 1'000'000};
  nanosleep(&time, nullptr);
}

class KilledRuns : public PreloadTest {
 protected:
  void SetUp() override {
    PreloadTest::SetUp();
    prctl(PR_SET_CHILD_SUBREAPER, 1);  // whose children all are when nvmemu is gone
    for (const char* const name : {"temporary", "stored"})
      std::filesystem::create_directory(folder_.file(name));
    environment_["TMPDIR"] = folder_.file("temporary");
  }
  void TearDown() override { prctl(PR_SET_CHILD_SUBREAPER, 0); }

  // With all that makes files: a node, and storage.
  pid_t start_script(const std::string& script, const Options& before = {}) {
    Options words = before;
    words.insert(words.end(),
                 {NVMEMU_TEST_BINARY, "run", "--base-latency", "100ns", "--quiet", "--tier", "far=2x,node=1",
                  "--storage", folder_.file("stored") + "=ssd-nvme", "--", "sh", "-c", script});
    return start_program(words);
  }
  std::string said() const { return folder_.read("stdout"); }
  bool has_said_a_line() const {
    constexpr int kMost = 4000;
    for (int i = 0; i < kMost && !said().ends_with("\n"); ++i) nap_ms(5);
    return said().ends_with("\n");
  }
  static void wait_for_all() {
    while (wait(nullptr) > 0 || errno == EINTR) continue;
  }
  std::ptrdiff_t files(const char* folder) const {
    return std::distance(std::filesystem::directory_iterator(folder_.file(folder)), {});
  }
  void expect_nothing_left() const {
    EXPECT_EQ(files("runtime"), 0);
    EXPECT_EQ(files("temporary"), 0);
  }
};

TEST_F(KilledRuns, LeaveNothingOnceTheirCommandHasEnded) {
  const pid_t pid = start_script("echo $$; exec sleep 1000");
  ASSERT_TRUE(has_said_a_line()) << folder_.read("stderr");
  EXPECT_EQ(files("runtime"), 2) << "the board, and the storage beside it";
  EXPECT_EQ(files("temporary"), 1) << "the nodes";
  kill(pid, SIGKILL);
  kill(std::atoi(said().c_str()), SIGKILL);
  wait_for_all();
  expect_nothing_left();
}

TEST_F(KilledRuns, LeaveNothingWhereTheirGroupIsKilled) {
  const pid_t pid = start_script("echo $$; sleep 1000", {"/usr/bin/setsid"});
  ASSERT_TRUE(has_said_a_line()) << folder_.read("stderr");
  EXPECT_EQ(files("runtime"), 2);
  kill(-pid, SIGKILL);
  wait_for_all();
  expect_nothing_left();
}

// From before it has made anything to when the command has ended, whatever the machine's pace.
TEST_F(KilledRuns, LeaveNothingWheneverTheyAreKilled) {
  for (long ms = 0; ms < 100; ms += 5) {
    const pid_t pid = start_script("exit 0");
    nap_ms(ms);
    kill(pid, SIGKILL);
    wait_for_all();
    expect_nothing_left();
  }
}

TEST_F(KilledRuns, LeaveNothingWhereTheyHaveJustBegun) {
  const pid_t pid = start_script("exit 0");
  while (files("runtime") == 0 && kill(pid, 0) == 0 && waitpid(pid, nullptr, WNOHANG) == 0) nap_ms(1);
  kill(pid, SIGKILL);
  wait_for_all();
  expect_nothing_left();
}

// What the command starts afterwards is emulated as before: its board and its nodes are there.
TEST_F(KilledRuns, GoOnAsLongAsTheirCommandDoes) {
  const std::string script = "kill -KILL $PPID; sleep 0.6; exec " NVMEMU_TEST_GUEST " emulated";
  const pid_t pid = start_script(script);
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  wait_for_all();
  EXPECT_EQ(said(), "ok\n");
  EXPECT_EQ(folder_.read("stderr"), "");
  expect_nothing_left();
}

}  // namespace
}  // namespace nvmemu
