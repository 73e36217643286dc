// SPDX-License-Identifier: Apache-2.0
// `pmbench --swap-device`, killed at any moment: the machine is as it was.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/test/temporary_folder.h"
#include "host/test/needs.h"
#include "machine_traces.h"
#include "measure/timer.h"
#include "watched_program.h"

namespace nvmemu::pmbench {
namespace {

using Words = std::vector<std::string>;

void nap_ms(long ms) {
  const timespec time{.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1'000'000};
  nanosleep(&time, nullptr);
}

// How it is slowed down; by BPF it is the one with more to leave behind.
struct Swap {
  const char* name;
  Words options;
};

class KilledWhileItSwaps : public testing::TestWithParam<Swap> {
 protected:
  void SetUp() override {
    if (std::getenv("NVMEMU_TEST_PAGING") == nullptr)
      GTEST_SKIP() << "needs NVMEMU_TEST_PAGING in the environment: it makes swap for the machine";
    before_ = machine_traces();
    objects_before_ = bpf_objects();
    prctl(PR_SET_CHILD_SUBREAPER, 1);  // whose children caretakers of killed ones are
    if (std::string why; !goes("1", why))
      GTEST_SKIP() << "needs root, memory cgroups and what it swaps to: " << why;
  }
  void TearDown() override {
    wait_for_all();
    prctl(PR_SET_CHILD_SUBREAPER, 0);
  }

  static void wait_for_all() {
    while (wait(nullptr) > 0 || errno == EINTR) continue;
  }

  // In a group of its own.
  pid_t start(const char* seconds, int says) const {
    Words words{"pmbench",
                "--swap-device",
                "zram",
                "--swap-size",
                "256M",
                "--memory-limit",
                "64M",
                "-m",
                "96",
                "-s",
                "96",
                "-i",
                "-c",
                "--page-cluster",
                "5",
                "-t",
                timer_hz(TimestampKind::kRdtscp) ? "rdtscp" : "perfc"};
    words.insert(words.end(), GetParam().options.begin(), GetParam().options.end());
    words.emplace_back(seconds);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const pid_t pid = fork();
    if (pid == 0) {
      setpgid(0, 0);
      const int nothing = open("/dev/null", O_WRONLY);
      dup2(nothing, STDOUT_FILENO);
      dup2(says < 0 ? nothing : says, STDERR_FILENO);
      execv(PMBENCH_TEST_BINARY, arguments.data());
      _exit(99);
    }
    setpgid(pid, pid);
    return pid;
  }
  bool goes(const char* seconds, std::string& why) const {
    const std::string said = folder_.write("said", "");
    const int says = open(said.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    const pid_t pid = start(seconds, says);
    close(says);
    int status = 0;
    waitpid(pid, &status, 0);
    why = folder_.read("said");
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  // When its caretaker has ended, too.
  void expect_as_before(const std::string& when) const {
    wait_for_all();
    EXPECT_EQ(machine_traces(), before_) << when;
    const auto is_freed = [this] {
      const std::set<unsigned> now = bpf_objects();
      return std::ranges::includes(objects_before_, now);
    };
    for (int i = 0; i < 500 && !is_freed(); ++i) nap_ms(20);
    EXPECT_TRUE(is_freed()) << when;
  }

  TemporaryFolder folder_;
  MachineTraces before_;
  std::set<unsigned> objects_before_;
};

TEST_P(KilledWhileItSwaps, LeavesNothingWheneverThatIs) {
  for (const long ms : {0, 2, 5, 10, 15, 20, 25, 30, 40, 50, 70, 100, 150, 250, 500}) {
    const pid_t pid = start("30", -1);
    nap_ms(ms);
    kill(pid, SIGKILL);
    expect_as_before("after " + std::to_string(ms) + " ms");
  }
}

// It has all of what it changes, and is paging. Its whole group is killed, too.
TEST_P(KilledWhileItSwaps, LeavesNothingAmidPaging) {
  for (const bool whole_group : {false, true}) {
    WatchedTerminal terminal;
    NVMEMU_NEEDS(terminal.is_open(), "pseudo-terminals");
    const pid_t pid = start("30", terminal.programs_end());
    terminal.leave_to_program();
    ASSERT_TRUE(terminal.wait_for_progress());
    const MachineTraces during = machine_traces();
    EXPECT_NE(during.swaps, before_.swaps);
    EXPECT_EQ(during.zram_devices.size(), before_.zram_devices.size() + 1);
    EXPECT_GT(during.groups.size(), before_.groups.size());
    EXPECT_EQ(during.page_cluster, "5");
    if (!GetParam().options.empty()) {
      EXPECT_GT(bpf_objects().size(), objects_before_.size() + 2);
    }
    kill(whole_group ? -pid : pid, SIGKILL);
    expect_as_before(whole_group ? "the group" : "the process");
  }
}

INSTANTIATE_TEST_SUITE_P(Swap, KilledWhileItSwaps,
                         testing::Values(Swap{"AtItsOwnSpeed", {}},
                                         Swap{"SlowedByBpf", {"--swap-latency", "20us"}}),
                         [](const auto& swap) { return std::string(swap.param.name); });

}  // namespace
}  // namespace nvmemu::pmbench
