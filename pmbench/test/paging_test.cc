// SPDX-License-Identifier: Apache-2.0
// Where memory pages for good: what the histogram, the classes, the thread's own counts and the kernel say of
// major faults must be the same.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "host/test/needs.h"
#include "measure/timer.h"
#include "run/runner.h"
#include "swap_device.h"
#include "system/kernel_files.h"
#include "watched_program.h"

namespace nvmemu::pmbench {
namespace {

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;

bool timer_is_tsc() { return timer_hz(TimestampKind::kRdtscp).has_value(); }

struct Medium {
  const char* name;
  Result<std::unique_ptr<SwapDevice>> (*make)(unsigned mib);
};
void PrintTo(const Medium& medium, std::ostream* out) { *out << medium.name; }

class PagingTo : public testing::TestWithParam<Medium> {
 protected:
  void SetUp() override {
    page_cluster_ = read_line(kPageCluster);
    // Swap is the whole machine's: whoever else it swaps out goes there too.
    if (std::getenv("NVMEMU_TEST_PAGING") == nullptr) {
      GTEST_SKIP() << "needs NVMEMU_TEST_PAGING in the environment: it makes swap for the machine";
    }
    auto made = GetParam().make(512);
    if (!made) GTEST_SKIP() << "needs swap of its own: " << made.error().message;
    swap_ = *std::move(made);
    prctl(PR_SET_CHILD_SUBREAPER, 1);  // whom the caretaker of a killed one is a child of
  }
  void TearDown() override {
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    EXPECT_EQ(read_line(kPageCluster), page_cluster_);
    EXPECT_TRUE(groups_left().empty());
  }

  // Of the cgroups of all pmbenches that could have been left behind, ours.
  static std::vector<std::string> groups_left(pid_t pid = getpid()) {
    std::vector<std::string> left;
    std::error_code error;
    const auto options = std::filesystem::directory_options::skip_permission_denied;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator("/sys/fs/cgroup", options, error)) {
      if (entry.path().filename() == "pmbench-" + std::to_string(pid)) left.push_back(entry.path());
    }
    return left;
  }

  // When the caretaker of a killed one has ended, too: it needs until the kernel has freed its memory.
  bool becomes_as_it_was(pid_t pid) const {
    while (wait(nullptr) > 0 || errno == EINTR) continue;
    return read_line(kPageCluster) == page_cluster_ && groups_left(pid).empty();
  }

  // 192 MiB where 96 may be used.
  static Options paging() {
    Options options;
    options.duration_s = 4;
    options.map_mib = options.set_mib = 192;
    options.phases = {Phase{.seconds = 4}};
    options.memory_limit_bytes = 96 * kMebibyte;
    options.page_cluster = 0;
    options.initialize = true;
    options.huge_pages = HugePages::kOff;
    options.cold = true;
    if (!timer_is_tsc()) options.timestamp = TimestampKind::kPerfCounter;
    return options;
  }
  static constexpr const char* kPageCluster = "/proc/sys/vm/page-cluster";
  std::string page_cluster_;
  std::unique_ptr<SwapDevice> swap_;
};

const MemorySnapshot& snapshot(const RunResult& result, const char* name) {
  return *std::find_if(result.snapshots.begin(), result.snapshots.end(),
                       [&](const MemorySnapshot& one) { return one.name == name; });
}

// Half of the set, less what the program itself takes of the limit, is in memory at a time.
void expect_half_of_accesses_to_fault(const ThreadResult& thread) {
  EXPECT_GT(thread.major_faults, 100);
  EXPECT_NEAR(static_cast<double>(thread.major_faults) / static_cast<double>(thread.accesses), 0.5, 0.2);
}

TEST_P(PagingTo, MajorFaultsAgreeHoweverTheyAreCounted) {
  const Stop stop;
  const Result<RunResult> result = run(paging(), stop);
  ASSERT_TRUE(result) << result.error().message;
  const ThreadResult& thread = result->threads.at(0);
  const auto by_rusage = static_cast<double>(thread.major_faults);
  expect_half_of_accesses_to_fault(thread);

  const std::uint64_t vmstat =
      snapshot(*result, "post-run").pgmajfault - snapshot(*result, "pre-run").pgmajfault;
  EXPECT_NEAR(static_cast<double>(vmstat), by_rusage, 0.01 * by_rusage);
  EXPECT_NEAR(static_cast<double>(result->major_faults), by_rusage, 0.01 * by_rusage);

  const auto& [hits, minor, major] = thread.classes;
  // The classes are of a sample: three times its standard error.
  const auto classed = static_cast<double>(hits.count + minor.count + major.count);
  const double share = static_cast<double>(major.count) / classed;
  const double by_classes = share * static_cast<double>(thread.accesses);
  const double error = std::sqrt(share * (1 - share) / classed) * static_cast<double>(thread.accesses);
  EXPECT_NEAR(by_classes, by_rusage, 3 * error);

  std::printf("rusage %.0f, vmstat %lu, classes %.0f; %.2f us a major fault\n", by_rusage,
              static_cast<unsigned long>(vmstat), by_classes, major.mean_ns() / 1e3);
  EXPECT_EQ(thread.own_faults, 0);
}

// By time alone: not in machines that are emulated in software, whose pauses are as long as their faults.
TEST_P(PagingTo, TheHistogramTellsMajorFaultsToo) {
  const Stop stop;
  const Result<RunResult> result = run(paging(), stop);
  ASSERT_TRUE(result) << result.error().message;
  const ThreadResult& thread = result->threads.at(0);
  const auto by_rusage = static_cast<double>(thread.major_faults);
  expect_half_of_accesses_to_fault(thread);

  const auto& [hits, minor, major] = thread.classes;
  LatencyCounts all = thread.reads;
  all.merge(thread.writes);
  LatencyCounts not_major = hits;
  not_major.merge(minor);
  const double cut_ns = best_cut_ns(not_major, major);
  EXPECT_NEAR(all.count_above(cut_ns), by_rusage, 0.01 * by_rusage) << "above " << cut_ns << " ns";
  std::printf("rusage %.0f, histogram above %.0f ns %.0f\n", by_rusage, cut_ns, all.count_above(cut_ns));
}

// Without -i, too: pages that were never written to would all be the kernel's one page of zeros.
TEST_P(PagingTo, ReadsAloneFault) {
  for (const bool initialize : {false, true}) {
    Options options = paging();
    options.initialize = initialize;
    options.read_percent = 100;
    options.duration_s = options.phases[0].seconds = 1;
    const Stop stop;
    const Result<RunResult> result = run(options, stop);
    ASSERT_TRUE(result) << result.error().message;
    expect_half_of_accesses_to_fault(result->threads.at(0));
    EXPECT_EQ(result->threads.at(0).writes.count, 0);
    EXPECT_NEAR(result->seconds, 1, 0.1);
  }
}

TEST_P(PagingTo, TheSeriesShowsIt) {
  Options options = paging();
  options.duration_s = 3;
  options.phases = {Phase{.pattern = "uniform", .seconds = 1.5},
                    Phase{.pattern = "sequential", .seconds = 1.5}};
  const Stop stop;
  const Result<RunResult> result = run(options, stop);
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_GE(result->series.size(), 4);  // 1, 1.5, 2 or 2.5, 3 s
  std::uint64_t accesses = 0, major = 0;
  for (const SeriesPoint& point : result->series) {
    accesses += point.accesses;
    major += point.major_faults;
    EXPECT_GT(point.p99_ns, point.p50_ns * 0.99);
    const auto has = [&](const char* name) {
      return std::any_of(point.counters.begin(), point.counters.end(),
                         [&](const auto& one) { return one.first == name; });
    };
    EXPECT_TRUE(has("vmstat.pswpin"));
    EXPECT_TRUE(has("cgroup.memory.current") || has("cgroup.memory.usage_in_bytes"));
  }
  EXPECT_EQ(result->series.front().phase, "uniform");
  EXPECT_EQ(result->series.back().phase, "sequential");
  EXPECT_EQ(accesses, result->threads.at(0).accesses);
  EXPECT_NEAR(static_cast<double>(major), static_cast<double>(result->major_faults), 1);
}

// 512 MiB of swap cannot take it.
TEST_P(PagingTo, AMapThatIsFilledMustFitIntoTheSwapEvenWhereTheSetWould) {
  Options options = paging();
  options.map_mib = 4096;
  const Stop stop;
  const Result<RunResult> result = run(options, stop);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("over the limit, and only"), std::string::npos);
}

// Returns when it has changed the machine and is paging: it says so on the terminal.
pid_t start_paging(WatchedTerminal& terminal) {
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(terminal.programs_end(), STDERR_FILENO);
    static_cast<void>(!std::freopen("/dev/null", "w", stdout));
    execl(PMBENCH_TEST_BINARY, "pmbench", "--memory-limit", "96M", "-m", "192", "-s", "192", "--page-cluster",
          "5", "-t", timer_is_tsc() ? "rdtscp" : "perfc", "30", nullptr);
    _exit(99);
  }
  terminal.leave_to_program();
  EXPECT_TRUE(terminal.wait_for_progress());
  return pid;
}

// SIGTERM while it is paging: the report is whole, the cgroup gone, readahead as it was.
TEST_P(PagingTo, LeavesNothingBehindWhenItIsInterrupted) {
  WatchedTerminal terminal;
  NVMEMU_NEEDS(terminal.is_open(), "pseudo-terminals");
  const pid_t pid = start_paging(terminal);
  EXPECT_EQ(read_line(kPageCluster), "5");
  kill(pid, SIGTERM);
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_TRUE(groups_left(pid).empty());
}

TEST_P(PagingTo, LeavesNothingBehindWhenItIsKilled) {
  WatchedTerminal terminal;
  NVMEMU_NEEDS(terminal.is_open(), "pseudo-terminals");
  const pid_t pid = start_paging(terminal);
  EXPECT_EQ(read_line(kPageCluster), "5");
  EXPECT_FALSE(groups_left(pid).empty());
  kill(pid, SIGKILL);
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(becomes_as_it_was(pid));
}

// Nothing of a group may be swapped out any more (by version 1's file, or version 2's): it is at its limit,
// and must page.
void forbid_swapping(const std::string& group) {
  const bool forbidden =
      write_text(group + "/memory.swappiness", "0") || write_text(group + "/memory.swap.max", "0");
  EXPECT_TRUE(forbidden);
}

TEST_P(PagingTo, SaysWhatKilledItWhenItsGroupRunsOutOfMemory) {
  WatchedTerminal terminal;
  NVMEMU_NEEDS(terminal.is_open(), "pseudo-terminals");
  const pid_t pid = start_paging(terminal);
  const std::vector<std::string> groups = groups_left(pid);
  ASSERT_EQ(groups.size(), 1);
  forbid_swapping(groups[0]);
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  const std::string& said = terminal.to_the_end();
  EXPECT_NE(said.find("--memory-limit was reached"), std::string::npos) << said;
  EXPECT_TRUE(becomes_as_it_was(pid));
}

// Beyond the device, a fault takes what the kernel does: as much, whatever the device. Bounds for machines
// where that is ten times what it is on the usual ones.
TEST(SlowSwap, TakesAsLongAsItIsTo) {
  if (std::getenv("NVMEMU_TEST_PAGING") == nullptr)
    GTEST_SKIP() << "needs NVMEMU_TEST_PAGING in the environment: it makes swap for the machine";
  std::vector<double> overheads_ns;
  for (const double latency_ns : {20e3, 400e3}) {
    Options options;
    options.duration_s = 3;
    options.map_mib = options.set_mib = 96;
    options.phases = {Phase{.seconds = 3}};
    options.memory_limit_bytes = 64 * kMebibyte;
    options.page_cluster = 0;
    options.initialize = options.cold = true;
    options.huge_pages = HugePages::kOff;
    options.swap_device = "zram";
    options.swap_latency_ns = latency_ns;
    if (!timer_is_tsc()) options.timestamp = TimestampKind::kPerfCounter;
    const Stop stop;
    const Result<RunResult> result = run(options, stop);
    if (!result)
      GTEST_SKIP() << "needs BPF at the kernel's tracepoints, and zram: " << result.error().message;
    EXPECT_GT(result->swap.reads, 100U);
    EXPECT_NEAR(result->swap.read_ns, latency_ns, 1);
    const LatencyCounts& major = result->threads.at(0).classes[2];
    overheads_ns.push_back(major.percentile_ns(0.5) - latency_ns);
  }
  EXPECT_GT(overheads_ns[0], 0);
  EXPECT_NEAR(overheads_ns[0], overheads_ns[1], 40e3);
  EXPECT_EQ(read_text("/proc/swaps").find("zram"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Swap, PagingTo,
                         testing::Values(Medium{"zram", make_zram_swap}, Medium{"loop", make_loop_swap}),
                         [](const auto& medium) { return std::string(medium.param.name); });

}  // namespace
}  // namespace nvmemu::pmbench
