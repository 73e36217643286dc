// SPDX-License-Identifier: Apache-2.0
// `pmbench touch` and `kswapd`, as a user and a script see them; and how all three explain themselves.
#include "large_memory_cli.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <vector>

#include "host/test/needs.h"
#include "output/touch_json.h"
#include "watched_program.h"

namespace nvmemu::pmbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST_F(LargeMemoryCli, ExplainsItself) {
  for (const char* name : {"vma", "touch", "kswapd"}) {
    EXPECT_EQ(run({name, "--help"}), 0);
    EXPECT_THAT(folder_.read("out"), AllOf(HasSubstr(std::string("pmbench ") + name), HasSubstr("Examples:"),
                                           HasSubstr("Exit status:"), HasSubstr("--pattern")));
    EXPECT_EQ(folder_.read("err"), "");
  }
}

TEST_F(LargeMemoryCli, TouchRefusesWhatIsNotSafe) {
  expect_refused({"touch"}, "--memory-limit is missing", "--memory-limit 256M");
  expect_refused({"touch", "--memory-limit", "256M", "--ratio", "15/16"}, "below 1", "18/16");
  expect_refused({"touch", "--memory-limit", "256M", "--ratio", "18/0"}, "--ratio", "pmbench touch --help");
  expect_refused({"touch", "--memory-limit", "1M"}, "no room for the program itself", "at least 64 MiB");
  expect_refused({"touch", "--memory-limit", "256M", "--thp", "maybe"}, "--thp: 'maybe'",
                 "pmbench touch --help");
  expect_refused({"kswapd"}, "--whole-machine is missing", "virtual machine");
}

TEST_F(LargeMemoryCli, TouchRefusesAMachineWithoutSwap) {
  NVMEMU_NEEDS(number_of(parse_keyed(read_text("/proc/meminfo")), "SwapTotal") == 0,
               "a machine without swap");
  expect_refused({"touch", "--memory-limit", "256M"}, "no swap", "--swap-device zram");
}

// A machine that lacks something: in mounts of its own, with files in the place of the kernel's.
class LesserMachine : public LargeMemoryCli {
 protected:
  void SetUp() override {
    NVMEMU_NEEDS(geteuid() == 0 && succeeds([] {
                   return has_own_mounts() && mount("none", "/mnt", "tmpfs", 0, nullptr) == 0;
                 }),
                 "root that may have mounts of its own");
  }
  static bool has_own_mounts() {
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
  }
  // In a process of its own.
  static bool succeeds(const std::function<bool()>& what) {
    const pid_t pid = fork();
    if (pid == 0) _exit(what() ? 0 : 1);
    return finish(pid) == 0;
  }
  // In a program's process, which does not start where that fails.
  static void put(const std::string& file, const char* in_place_of) {
    if (mount(file.c_str(), in_place_of, nullptr, MS_BIND, nullptr) != 0) _exit(98);
  }
};

TEST_F(LesserMachine, ForbiddenHugePagesAreSaid) {
  constexpr const char* kHugePages = "/sys/kernel/mm/transparent_hugepage/enabled";
  NVMEMU_NEEDS(access(kHugePages, F_OK) == 0, "a kernel with transparent huge pages");
  folder_.write("enabled", "always madvise [never]\n");
  expect_refused({"touch", "--memory-limit", "64M", "--thp", "on"},
                 "transparent huge pages are forbidden on this machine", "as root: echo madvise", [this] {
                   if (!has_own_mounts()) _exit(98);
                   put(folder_.file("enabled"), kHugePages);
                 });
}

// Which has swap, as it is told.
TEST_F(LesserMachine, WithoutCgroupsTouchSaysWhatToMount) {
  std::string memory = read_text("/proc/meminfo");
  for (const char* const name : {"SwapTotal:", "SwapFree:"}) {
    const std::size_t begin = memory.find(name);
    ASSERT_NE(begin, std::string::npos);
    memory.replace(begin, memory.find('\n', begin) - begin, std::string(name) + " 8388608 kB");
  }
  folder_.write("meminfo", memory);
  expect_refused({"touch", "-q", "--memory-limit", "64M"}, "no cgroup file system with a memory controller",
                 "mount -t cgroup2", [this] {
                   if (!has_own_mounts() || umount2("/sys/fs/cgroup", MNT_DETACH) != 0) _exit(98);
                   put(folder_.file("meminfo"), "/proc/meminfo");
                 });
}

class Touching : public LargeMemoryCli {
 protected:
  void SetUp() override {
    // Swap is the whole machine's: whoever else it swaps out goes there too.
    if (std::getenv("NVMEMU_TEST_PAGING") == nullptr)
      GTEST_SKIP() << "needs NVMEMU_TEST_PAGING in the environment: it makes swap for the machine";
    NVMEMU_NEEDS(geteuid() == 0, "root");
    if (run({"touch", "--memory-limit", "64M", "--swap-device", "zram", "--runs", "1"}) == 2)
      GTEST_SKIP() << "needs memory cgroups and zram: " << folder_.read("err");
    prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
  void TearDown() override {
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    expect_nothing_left();
  }
  static void expect_nothing_left() {
    EXPECT_EQ(read_text("/proc/swaps").find("zram"), std::string::npos);
    std::error_code error;
    const auto options = std::filesystem::directory_options::skip_permission_denied;
    for (const auto& entry : std::filesystem::recursive_directory_iterator("/sys/fs/cgroup", options, error))
      EXPECT_FALSE(entry.path().filename().string().starts_with("pmbench-")) << entry.path();
  }
};

// What exceeds the limit goes out, and what the program itself takes, some MiB; as the paper's random, none.
TEST_F(Touching, SwapsOutWhatIsOverTheLimit) {
  const std::string json = folder_.file("touch.json");
  ASSERT_EQ(run({"touch", "--memory-limit", "256M", "--swap-device", "zram", "--runs", "1", "--pattern",
                 "all", "--json", json}),
            0)
      << folder_.read("err");
  const Result<TouchResult> result = parse_touch_json(folder_.read("touch.json"));
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->cases.size(), 3);
  constexpr double kOverPages = 256 / 8 * 256;
  for (const TouchCase& one : result->cases) {
    const TouchRun& run = one.runs.at(0);
    const double out = run.reclaim.counter("pswpout");
    std::uint64_t counted = 0, sum_ns = 0;
    for (const LatencyCounts& counts : run.classes) {
      counted += counts.count;
      sum_ns += counts.sum_ns;
    }
    EXPECT_EQ(counted, run.touches);
    EXPECT_LE(static_cast<double>(sum_ns), run.loop_ns);
    if (one.pattern == TouchPattern::kUniform) {
      EXPECT_EQ(out, 0);
      continue;
    }
    EXPECT_GT(out, 0.85 * kOverPages);
    EXPECT_LT(out, 1.15 * kOverPages);
    // From the limit on it stays there; shared pages of the program's file are not of the limit.
    for (const RssPoint& point : run.rss) {
      EXPECT_LT(point.rss_bytes, 272U << 20) << point.touches;
      if (point.touches <= std::uint64_t{264} << 8) continue;
      EXPECT_GT(point.rss_bytes, 240U << 20) << point.touches;
    }
  }
  EXPECT_THAT(folder_.read("out"),
              AllOf(HasSubstr("uniform, THP off: nothing was swapped"), HasSubstr("kswapd has no part")));
}

// What lies between two touches takes some 4 % of their loop, less what other tasks took there.
TEST_F(Touching, AddUpToTheirLoop) {
  const std::string json = folder_.file("touch.json");
  ASSERT_EQ(run({"touch", "--memory-limit", "64M", "--swap-device", "zram", "--runs", "3", "--pattern",
                 "cont", "--json", json}),
            0)
      << folder_.read("err");
  const Result<TouchResult> result = parse_touch_json(folder_.read("touch.json"));
  ASSERT_TRUE(result) << result.error().message;
  std::vector<double> shares;
  for (const TouchRun& run : result->cases.at(0).runs) {
    std::uint64_t sum_ns = 0;
    for (const LatencyCounts& counts : run.classes) sum_ns += counts.sum_ns;
    shares.push_back(static_cast<double>(sum_ns) / (run.loop_ns - run.between_ns));
  }
  ASSERT_EQ(shares.size(), 3U);
  std::sort(shares.begin(), shares.end());
  EXPECT_GT(shares[1], 0.9);
  EXPECT_LE(shares[2], 1);
}

TEST_F(Touching, LeavesNothingBehindHoweverItEnds) {
  for (const int signal : {SIGINT, SIGKILL}) {
    WatchedTerminal terminal;
    NVMEMU_NEEDS(terminal.is_open(), "pseudo-terminals");
    const pid_t pid = start({"touch", "--memory-limit", "64M", "--swap-device", "zram", "--runs", "1000"},
                            terminal.programs_end());
    terminal.leave_to_program();
    EXPECT_TRUE(terminal.wait_for("run 2 of 1000"));
    EXPECT_NE(read_text("/proc/swaps").find("zram"), std::string::npos);
    kill(pid, signal);
    EXPECT_EQ(finish(pid), signal == SIGKILL ? 128 + SIGKILL : 0);
    while (wait(nullptr) > 0 || errno == EINTR) continue;
    expect_nothing_left();
  }
}

}  // namespace
}  // namespace nvmemu::pmbench
