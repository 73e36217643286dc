// SPDX-License-Identifier: Apache-2.0
// pmbench, as a user starts it, for its subcommands of large memory.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "base/test/temporary_folder.h"
#include "system/kernel_files.h"

namespace nvmemu::pmbench {

class LargeMemoryCli : public testing::Test {
 protected:
  // `before`: in the program's process, before it is executed.
  pid_t start(std::vector<std::string> arguments, int complain_to = -1,
              const std::function<void()>& before = {}) {
    arguments.insert(arguments.begin(), "pmbench");
    const pid_t pid = fork();
    if (pid != 0) return pid;
    signal(SIGINT, SIG_DFL);
    static_cast<void>(!std::freopen(folder_.file("out").c_str(), "w", stdout));
    if (complain_to >= 0) {
      dup2(complain_to, STDERR_FILENO);
    } else {
      static_cast<void>(!std::freopen(folder_.file("err").c_str(), "w", stderr));
    }
    if (before) before();
    std::vector<char*> words;
    for (std::string& argument : arguments) words.push_back(argument.data());
    words.push_back(nullptr);
    execv(PMBENCH_TEST_BINARY, words.data());
    _exit(99);
  }
  static int finish(pid_t pid) {
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  int run(const std::vector<std::string>& arguments, const std::function<void()>& before = {}) {
    return finish(start(arguments, -1, before));
  }
  void expect_refused(const std::vector<std::string>& arguments, const char* message, const char* hint,
                      const std::function<void()>& before = {}) {
    EXPECT_EQ(run(arguments, before), 2) << message;
    EXPECT_EQ(folder_.read("out"), "");
    EXPECT_THAT(folder_.read("err"),
                testing::AllOf(testing::HasSubstr("pmbench: error: "), testing::HasSubstr(message),
                               testing::HasSubstr("pmbench: hint: "), testing::HasSubstr(hint)));
  }
  static std::uint64_t areas_allowed() { return read_number("/proc/sys/vm/max_map_count").value_or(0); }

  TemporaryFolder folder_;
};

}  // namespace nvmemu::pmbench
