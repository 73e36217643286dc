// SPDX-License-Identifier: Apache-2.0
// `pmbench vma`, as a user and a script see it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <string>

#include "host/test/needs.h"
#include "large_memory_cli.h"
#include "output/vma_json.h"
#include "watched_program.h"

namespace nvmemu::pmbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST_F(LargeMemoryCli, VmaCountsAreasAsAnyUser) {
  const std::string json = folder_.file("vma.json");
  ASSERT_EQ(run({"vma", "--ops", "4096", "--rounds", "2", "--op", "mmap,touch,munmap,fork", "--faulters", "1",
                 "--json", json}),
            0)
      << folder_.read("err");
  EXPECT_THAT(folder_.read("err"),
              HasSubstr("2 rounds of cont, strided, random, frag: 4096 operations each, up to 8200 areas"));
  EXPECT_THAT(folder_.read("out"),
              AllOf(HasSubstr("median ns, by operations done"), HasSubstr("beside strided")));
  const Result<VmaResult> result = parse_vma_json(folder_.read("vma.json"));
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->cases.size(), 4);
  EXPECT_NEAR(static_cast<double>(result->cases[0].areas_at_end), 1, 1);
  EXPECT_NEAR(static_cast<double>(result->cases[1].areas_at_end), 4096, 1);
  EXPECT_NEAR(static_cast<double>(result->cases[2].areas_at_end), 1, 1);
  EXPECT_NEAR(static_cast<double>(result->cases[3].areas_at_end), 4097, 40);
  EXPECT_EQ(run({"report", json}), 0) << folder_.read("err");
  EXPECT_THAT(folder_.read("out"), HasSubstr("strided (fork)"));
}

// As many as are usual, and as whoever: each pattern has the areas that it is to have.
TEST_F(LargeMemoryCli, VmaCountsAsManyAreasAsAnOrdinaryUserMayHave) {
  NVMEMU_NEEDS(areas_allowed() >= 65530, "as many areas as Linux allows by default");
  std::filesystem::permissions(folder_.path(), std::filesystem::perms::all);
  const std::string json = folder_.file("vma.json");
  ASSERT_EQ(run({"vma", "--rounds", "1", "--op", "mmap", "--json", json},
                [] {
                  constexpr unsigned kNobody = 65534;
                  if (geteuid() == 0 && (setgid(kNobody) != 0 || setuid(kNobody) != 0)) _exit(98);
                }),
            0)
      << folder_.read("err");
  const Result<VmaResult> result = parse_vma_json(folder_.read("vma.json"));
  ASSERT_TRUE(result) << result.error().message;
  struct Areas {
    double half_way, at_end, apart;
  };
  constexpr double kMany = 60'000;
  constexpr Areas kAreas[] = {
      {1, 1, 1}, {kMany / 2, kMany, 1}, {kMany / 4, 1, 0.02 * kMany / 4}, {kMany / 2 + 1, kMany + 1, 40}};
  ASSERT_EQ(result->cases.size(), std::size(kAreas));
  for (std::size_t i = 0; i < std::size(kAreas); ++i) {
    const VmaCase& one = result->cases[i];
    EXPECT_NEAR(static_cast<double>(one.areas_half_way), kAreas[i].half_way, kAreas[i].apart) << i;
    EXPECT_NEAR(static_cast<double>(one.areas_at_end), kAreas[i].at_end, std::min(kAreas[i].apart, 40.0))
        << i;
  }
}

// The kernel's records, which none but root may count: some 230 bytes with their part of the tree, of which
// what others map meanwhile is little.
TEST_F(LargeMemoryCli, VmaTellsBytesAnArea) {
  NVMEMU_NEEDS(access("/proc/slabinfo", R_OK) == 0, "root that may read /proc/slabinfo");
  const std::string json = folder_.file("vma.json");
  ASSERT_EQ(run({"vma", "--pattern", "strided,frag", "--rounds", "1", "--op", "mmap", "--json", json}), 0)
      << folder_.read("err");
  const Result<VmaResult> result = parse_vma_json(folder_.read("vma.json"));
  ASSERT_TRUE(result) << result.error().message;
  for (const VmaCase& one : result->cases) {
    ASSERT_TRUE(one.bytes_per_area);
    EXPECT_GT(*one.bytes_per_area, 200);
    EXPECT_LT(*one.bytes_per_area, 320);
  }
}

TEST_F(LargeMemoryCli, VmaRefusesWhatTheMachineHasNot) {
  expect_refused({"vma", "--ops", std::to_string(areas_allowed())}, "vm.max_map_count is", "at most --ops");
  expect_refused({"vma", "--pattern", "frag", "--ops", "20000"}, "no room for", "ulimit -v", [] {
    const rlimit limit{std::uint64_t{400} << 20, std::uint64_t{400} << 20};
    setrlimit(RLIMIT_AS, &limit);
  });
  expect_refused({"vma", "--pattern", "spiral"}, "'spiral' is not one of", "pmbench vma --help");
  expect_refused({"vma", "--op", "mprotect"}, "'mprotect' is not one of", "pmbench vma --help");
  expect_refused({"vma", "--ops", "0"}, "--ops: 0 is not within", "pmbench vma --help");
}

// Rounds without end: it is only shown once it measures.
TEST_F(LargeMemoryCli, VmaPutsTheLimitBackHoweverItEnds) {
  NVMEMU_NEEDS(access("/proc/sys/vm/max_map_count", W_OK) == 0, "root that may set vm.max_map_count");
  const std::uint64_t before = areas_allowed();
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // whom the caretaker of a killed one is a child of
  for (const int signal : {SIGINT, SIGKILL}) {
    WatchedTerminal terminal;
    NVMEMU_NEEDS(terminal.is_open(), "pseudo-terminals");
    const pid_t pid = start(
        {"vma", "--pattern", "strided", "--ops", std::to_string(before), "--raise-limit", "--rounds", "1000"},
        terminal.programs_end());
    terminal.leave_to_program();
    EXPECT_TRUE(terminal.wait_for("round 1 of 1000"));
    EXPECT_GT(areas_allowed(), before);
    kill(pid, signal);
    EXPECT_EQ(finish(pid), signal == SIGKILL ? 128 + SIGKILL : 0);
    while (wait(nullptr) > 0 || errno == EINTR) continue;
    EXPECT_EQ(areas_allowed(), before);
  }
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

}  // namespace
}  // namespace nvmemu::pmbench
