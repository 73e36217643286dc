// SPDX-License-Identifier: Apache-2.0
// The program, as a user and a script see it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "host/test/needs.h"
#include "watched_program.h"

namespace nvmemu::pmbench {
namespace {

class Cli : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/pmbench-cli-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // `complain_to`: its stderr; -1: the file.
  pid_t start(std::vector<std::string> arguments, int complain_to = -1) const {
    arguments.insert(arguments.begin(), "pmbench");
    const pid_t pid = fork();
    if (pid != 0) return pid;
    signal(SIGINT, SIG_DFL);
    const int flags = O_WRONLY | O_CREAT | O_TRUNC;
    dup2(open((folder_ + "/out").c_str(), flags, 0600), STDOUT_FILENO);
    dup2(complain_to >= 0 ? complain_to : open((folder_ + "/err").c_str(), flags, 0600), STDERR_FILENO);
    std::vector<char*> words;
    for (std::string& argument : arguments) words.push_back(argument.data());
    words.push_back(nullptr);
    execv(PMBENCH_TEST_BINARY, words.data());
    _exit(99);
  }
  // Back when it measures, and has something to report.
  pid_t start_measuring(const std::vector<std::string>& arguments) {
    const pid_t pid = start(arguments, terminal_.programs_end());
    terminal_.leave_to_program();
    EXPECT_TRUE(terminal_.wait_for_progress());
    return pid;
  }
  static int finish(pid_t pid) {
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  std::string read(const char* stream) const {
    std::ostringstream text;
    text << std::ifstream(folder_ + "/" + stream).rdbuf();
    return text.str();
  }
  std::string folder_;
  WatchedTerminal terminal_;
};

TEST_F(Cli, SaysOnStderrWhichOptionIsWrong) {
  EXPECT_EQ(finish(start({"5", "-s", "0"})), 2);
  EXPECT_EQ(read("out"), "");
  EXPECT_NE(read("err").find("pmbench: error: -s: 0"), std::string::npos) << read("err");
}

TEST_F(Cli, PrintsItsHelpOnStdout) {
  EXPECT_EQ(finish(start({"--help"})), 0);
  EXPECT_NE(read("out").find("--memory-limit"), std::string::npos);
  EXPECT_EQ(read("err"), "");
}

TEST_F(Cli, ReportsWhatItHasWhenItIsInterrupted) {
  NVMEMU_NEEDS(terminal_.is_open(), "pseudo-terminals");
  const pid_t pid = start_measuring({"-s", "1", "-m", "1", "3600"});
  kill(pid, SIGINT);
  EXPECT_EQ(finish(pid), 0);
  EXPECT_FALSE(read("out").empty());
}

// Whole files, in which it says that it was interrupted, and which its own report reads.
TEST_F(Cli, WritesValidFilesWhenItIsInterrupted) {
  const std::string xml = folder_ + "/run.xml";
  const std::string json = folder_ + "/run.json";
  NVMEMU_NEEDS(terminal_.is_open(), "pseudo-terminals");
  const pid_t pid = start_measuring({"-s", "1", "-m", "1", "-f", xml, "--json", json, "3600"});
  kill(pid, SIGINT);
  ASSERT_EQ(finish(pid), 0);
  EXPECT_NE(read("run.xml").find("<interrupted>1</interrupted>"), std::string::npos);
  EXPECT_EQ(finish(start({"report", xml, json})), 0) << read("err");
  EXPECT_NE(read("out").find("run.json"), std::string::npos) << read("out");
}

TEST_F(Cli, RepeatsIntoNumberedFilesThatAreAveraged) {
  const std::string json = folder_ + "/run.json";
  ASSERT_EQ(finish(start({"-s", "1", "-m", "1", "--repeat", "2", "--json", json, "1"})), 0) << read("err");
  EXPECT_FALSE(std::filesystem::exists(json));
  ASSERT_EQ(finish(start({"report", "--json", folder_ + "/run-1.json", folder_ + "/run-2.json"})), 0)
      << read("err");
  EXPECT_NE(read("out").find("\"half_width_95\""), std::string::npos) << read("out");
}

// As of a kernel that has none: modprobe is one that finds none.
TEST_F(Cli, SaysThatThereIsNoNullBlockDriver) {
  NVMEMU_NEEDS(geteuid() == 0, "root");
  NVMEMU_NEEDS(!std::filesystem::exists("/sys/module/null_blk"), "a kernel without null_blk");
  const std::string modprobe = folder_ + "/modprobe";
  std::ofstream(modprobe) << "#!/bin/sh\necho modprobe: FATAL: Module \"$1\" not found >&2; exit 1\n";
  std::filesystem::permissions(modprobe, std::filesystem::perms::owner_all);
  const std::string path_before = getenv("PATH");
  setenv("PATH", (folder_ + ":" + path_before).c_str(), 1);
  const int status = finish(start({"-s", "1", "-m", "1", "--swap-device", "null_blk", "1"}));
  setenv("PATH", path_before.c_str(), 1);
  EXPECT_EQ(status, 1);
  EXPECT_EQ(read("out"), "");
  EXPECT_NE(
      read("err").find("pmbench: error: --swap-device: this kernel has no null_blk driver, and none can "
                       "be loaded: modprobe null_blk: FATAL: Module null_blk not found\n"
                       "pmbench: hint: it takes a kernel with CONFIG_BLK_DEV_NULL_BLK"),
      std::string::npos)
      << read("err");
}

TEST_F(Cli, SaysWhatPagesWithoutRoot) {
  NVMEMU_NEEDS(geteuid() != 0, "another user than root");
  EXPECT_EQ(finish(start({"-s", "1", "-m", "1", "--swap-device", "auto", "--swap-latency", "7us", "1"})), 1);
  EXPECT_NE(read("err").find("nvmemu run --dram 256M --page-latency 7us -- "), std::string::npos)
      << read("err");
}

// However early: the handlers may not be there yet, then the signal ends it as any program. The times are no
// condition: they only make it likely that each stage of its start is met.
TEST_F(Cli, IsNeverStuckWhenItIsInterrupted) {
  for (const unsigned after_us : {0U, 2'000U, 10'000U, 30'000U, 100'000U}) {
    const pid_t pid = start({"-i", "-j", "2", "3600"});
    usleep(after_us);
    kill(pid, SIGINT);
    const int status = finish(pid);
    EXPECT_TRUE(status == 0 || status == 128 + SIGINT) << status;
  }
}

}  // namespace
}  // namespace nvmemu::pmbench
