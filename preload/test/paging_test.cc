// SPDX-License-Identifier: Apache-2.0
// Programs whose memory is paged: they see what they would see otherwise, and the report what became of their
// pages.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "paging_cli.h"

namespace nvmemu {
namespace {

// Which scenario, and who brings pages.
class PagedPrograms : public Paging,
                      public testing::WithParamInterface<std::tuple<const char*, const char*>> {
 protected:
  void SetUp() override {
    Paging::SetUp();
    if (IsSkipped() || handler() == "signal") return;
    NVMEMU_NEEDS(check_paging(HandlerKind::kThread), "root, CAP_SYS_PTRACE or vm.unprivileged_userfaultfd=1");
  }
  static std::string handler() { return std::get<1>(GetParam()); }
};

TEST_P(PagedPrograms, SeeWhatTheyWouldSeeOtherwise) {
  expect_paged_ok(std::get<0>(GetParam()), {"--page-handler", handler()});
  EXPECT_EQ(paging()["handler"], handler());
  EXPECT_EQ(paging()["surprises"], 0) << paging();
  EXPECT_EQ(paging()["failed_reads"], 0) << paging();
  EXPECT_LE(paging()["most_dram_bytes"], 64 << 20);  // what is pinned, and locked, beside the 2 MiB
  EXPECT_GT(paging()["hard_faults"]["faults"], 0) << paging();
}

INSTANTIATE_TEST_SUITE_P(
    Guest, PagedPrograms,
    testing::Combine(testing::Values("paged-memory", "paged-calls", "paged-long-message", "paged-probes",
                                     "paged-many-parts", "paged-mappings", "paged-forks", "paged-many-forks",
                                     "paged-programs", "paged-clear-sighand", "paged-signals",
                                     "paged-threads", "paged-shrinking", "paged-descriptors",
                                     "paged-last-thread", "paged-ends", "paged-locks", "paged-refused-locks",
                                     "paged-limits", "paged-bus-errors", "paged-guard-pages",
                                     "paged-released", "paged-own-stacks", "paged-vectors", "paged-splices",
                                     "paged-messages", "paged-waits", "paged-times", "paged-names",
                                     "paged-folders", "paged-queues", "paged-controls", "paged-free",
                                     "paged-populated", "paged-advice", "paged-not-forked", "paged-wiped",
                                     "paged-both-mapped", "paged-heap", "paged-by-number", "paged-lists",
                                     "paged-handlers-calls", "paged-handlers-forks", "paged-jumps",
                                     "paged-sent-faults", "paged-hooks", "paged-filters", "paged-defaults",
                                     "paged-registers", "paged-cancels"),
                     testing::Values("signal", "thread")));

// The emulator reads the clock amid work on pages, too.
TEST_F(Paging, ReadingTheClockMayTakeASystemCall) {
  environment_["LD_PRELOAD"] = NVMEMU_TEST_CLOCK_BY_SYSTEM_CALL;
  for (const char* const scenario : {"paged-memory", "paged-calls", "paged-threads"})
    expect_paged_ok(scenario);
}

TEST_F(Paging, ChildrenHaveTheirFilesWhereverTheyAre) {
  NVMEMU_NEEDS(geteuid() == 0, "root, to leave for another root folder");
  expect_paged_ok("paged-elsewhere");
  EXPECT_EQ(paging()["surprises"], 0) << paging();
}

TEST_F(Paging, WhatDoesNotGoWithItIsNotThereAndTheReportSaysSo) {
  expect_paged_ok("paged-not-there");
  EXPECT_NE(report()["warnings"].dump().find("asked for io_uring"), std::string::npos)
      << report()["warnings"];
  expect_paged_ok("paged-memory");
  EXPECT_EQ(report()["warnings"].dump().find("asked for io_uring"), std::string::npos)
      << report()["warnings"];
}

TEST_F(Paging, EachPageThatWasOutTakesWhatTheDeviceDoes) {
  expect_paged_ok("paged-memory", {"--page-latency", "300us"});
  EXPECT_GE(paging()["hard_faults"]["median_ns"], 300e3) << paging();
  const double reads = paging()["hard_faults"]["faults"];
  EXPECT_GE(paging()["device_ns"], 0.9 * 300e3 * reads) << paging();
  // What was read is what the device was asked for.
  const double cleaned = paging()["cleaned_pages"];
  EXPECT_EQ(pages("sequential_read_pages") + pages("random_read_pages"), reads + cleaned);
  EXPECT_EQ(pages("readahead_pages"), 0);
  EXPECT_EQ(pages("sequential_written_pages") + pages("random_written_pages"),
            pages("written_pages") + cleaned);
}

// Waits so short are spun: by the program's thread, which has neither computed nor stalled then. A part of
// each is what the file takes, and a busy machine takes some.
TEST_F(Paging, WaitsForTheDeviceAreInjectedTime) {
  expect_paged_ok("paged-descriptors", {"--page-latency", "40us"});
  const Json totals = report()["totals"];
  const double cpu_ns = totals["cpu_ns"], injected_ns = totals["injected_ns"];
  const double reads = paging()["hard_faults"]["faults"];
  EXPECT_GE(injected_ns, 0.2 * 40e3 * reads) << totals << paging();
  EXPECT_LE(injected_ns, paging()["device_ns"]) << totals << paging();
  EXPECT_LE(cpu_ns + injected_ns, 1e9 * report()["wall_seconds"].get<double>()) << totals;
}

class PageLayouts : public Paging, public testing::WithParamInterface<const char*> {};

TEST_P(PageLayouts, LoseNothing) {
  for (const char* const scenario : {"paged-memory", "paged-forks", "paged-mappings"}) {
    expect_paged_ok(scenario, {"--page-layout", GetParam()});
    EXPECT_EQ(paging()["layout"], GetParam());
    EXPECT_EQ(paging()["surprises"], 0) << paging();
    EXPECT_GT(paging()["hard_faults"]["faults"], 0) << paging();
  }
}
INSTANTIATE_TEST_SUITE_P(Paging, PageLayouts, testing::Values("log", "in-place", "scattered"));

class PageReadAheads : public Paging, public testing::WithParamInterface<const char*> {};

TEST_P(PageReadAheads, LoseNothing) {
  for (const char* const scenario : {"paged-memory", "paged-forks", "paged-mappings", "paged-threads"}) {
    expect_paged_ok(scenario, {"--page-readahead", GetParam()});
    EXPECT_EQ(paging()["readahead"], GetParam());
    EXPECT_EQ(paging()["surprises"], 0) << paging();
    EXPECT_GT(pages("readahead_used"), 0) << paging();
    EXPECT_LE(pages("readahead_used") + pages("readahead_dropped"), pages("readahead_pages"));
  }
}
INSTANTIATE_TEST_SUITE_P(Paging, PageReadAheads, testing::Values("window", "adaptive"));

class PagePolicies : public Paging, public testing::WithParamInterface<const char*> {};

TEST_P(PagePolicies, LoseNothing) {
  for (const char* const scenario : {"paged-memory", "paged-forks", "paged-threads"}) {
    expect_paged_ok(scenario, {"--page-policy", GetParam()});
    EXPECT_EQ(paging()["policy"], GetParam());
    EXPECT_EQ(paging()["surprises"], 0) << paging();
    EXPECT_GT(paging()["hard_faults"]["faults"], 0) << paging();
  }
}
INSTANTIATE_TEST_SUITE_P(Paging, PagePolicies, testing::Values("random", "clock"));

TEST_F(Paging, ALogIsWrittenInSequence) {
  expect_paged_ok("paged-memory");
  EXPECT_EQ(paging()["layout"], "log");
  EXPECT_GT(pages("sequential_written_pages"), 19 * pages("random_written_pages")) << paging();
  expect_paged_ok("paged-memory", {"--page-layout", "scattered"});
  EXPECT_LT(pages("sequential_written_pages"), pages("random_written_pages")) << paging();
}

TEST_F(Paging, ADeviceGoesByItsName) {
  expect_paged_ok("paged-programs", {"--page-device", "optane-ssd"});
  EXPECT_EQ(paging()["device"], "optane-ssd");
}

// Flash that is nearly full: blocks are collected, which the device is asked for by nobody.
TEST_F(Paging, ADeviceMayBeAsAFileSays) {
  folder_.write("full-flash.toml", R"(read_latency = "10us"
write_latency = "10us"
read_bandwidth = "2GB/s"
write_bandwidth = "1GB/s"
flush_latency = "10us"
erase_block = "64KiB"
erase_latency = "10us"
spare = "25%"
erase_cycles = 3000
capacity = "64KiB"
)");
  expect_paged_ok("paged-memory",
                  {"--page-device", folder_.file("full-flash.toml"), "--page-layout", "scattered"});
  EXPECT_EQ(paging()["device"], "full-flash");
  EXPECT_GT(paging()["erases"].get<double>() * 16, 1.5 * pages("written_pages")) << paging();
  EXPECT_TRUE(paging()["wear"].is_object()) << paging();
}

TEST_F(Paging, WearIsToldOfDevicesOfWhichItIsKnown) {
  expect_paged_ok("paged-programs", {"--page-device", "ssd-2008"});
  EXPECT_GT(paging()["wear"]["years"], 0) << paging();
  EXPECT_EQ(paging()["wear"]["capacity_bytes"], 15.8e9);
  expect_paged_ok("paged-programs", {"--page-device", "optane-ssd"});
  EXPECT_TRUE(paging()["wear"].is_null());
}

// To whom the kernel gives less of userfaultfd(2).
TEST_F(Paging, IsAnOrdinaryUsers) {
  if (geteuid() != 0) GTEST_SKIP() << "all the others show it";
  std::vector<std::string> words = as_ordinary_user();
  words.insert(words.end(),
               {NVMEMU_TEST_BINARY, "run", "--base-latency", "100ns", "--quiet", "--dram", "2M", "--report",
                folder_.file("report.json"), "--", NVMEMU_TEST_GUEST, "paged-memory"});
  const Outcome outcome = finish(start_program(words));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "ok\n");
  EXPECT_GT(paging()["hard_faults"]["faults"], 0) << paging();
}

TEST_F(Paging, WithoutItNothingIsSaidOfIt) {
  expect_ok("burn");
  EXPECT_TRUE(paging().is_null());
}

TEST_F(Paging, GoesTogetherWithSlowerMemory) {
  expect_ok("paged-threads", {"--dram", "2M"});
  EXPECT_GT(paging()["hard_faults"]["faults"], 0) << paging();
  EXPECT_EQ(paging()["surprises"], 0) << paging();
}

// What is in DRAM is of two memories.
TEST_F(Paging, GoesTogetherWithTiers) {
  expect_ok("paged-threads", {"--dram", "2M", "--tier", "far=3x,interleave=1:1"});
  EXPECT_GT(paging()["hard_faults"]["faults"], 0) << paging();
  EXPECT_EQ(paging()["surprises"], 0) << paging();
  EXPECT_EQ(report()["tiers"].size(), 2U);
}

TEST_F(Paging, WhatIsTracedIsNotPaged) {
  for (const char* const handler : {"signal", "thread"}) {
    if (handler == std::string("thread") && !check_paging(HandlerKind::kThread)) continue;
    const Outcome outcome = run({"--quiet", "--dram", "2M", "--page-handler", handler, "--report",
                                 folder_.file("report.json"), "--", NVMEMU_TEST_GUEST, "traced"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "ok\n") << outcome.err;
    EXPECT_NE(outcome.err.find("is not paged: a debugger"), std::string::npos) << outcome.err;
    const std::string warnings = report()["warnings"].dump();
    EXPECT_NE(warnings.find("had itself traced"), std::string::npos) << warnings;
    EXPECT_NE(warnings.find("could not be paged"), std::string::npos) << warnings;
    EXPECT_EQ(paging()["surprises"], 0) << paging();
  }
}

// Two seconds of each here; by hand for as long as its argument says.
using Options = std::vector<std::string>;
class PagingStress : public Paging, public testing::WithParamInterface<Options> {};

TEST_P(PagingStress, ReadsWhatWasWritten) {
  const bool by_thread = std::ranges::find(GetParam(), "thread") != GetParam().end();
  NVMEMU_NEEDS(!by_thread || check_paging(HandlerKind::kThread),
               "root, CAP_SYS_PTRACE or vm.unprivileged_userfaultfd=1");
  Options options = {"--quiet", "--dram", "8M", "--report", folder_.file("report.json")};
  options.insert(options.end(), GetParam().begin(), GetParam().end());
  options.insert(options.end(), {"--", NVMEMU_TEST_PAGING_STRESS, "--seconds", "2"});
  const Outcome outcome = run(options);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "ok\n") << outcome.err;
  EXPECT_EQ(paging()["surprises"], 0) << paging();
  EXPECT_EQ(paging()["failed_reads"], 0) << paging();
  EXPECT_GT(paging()["hard_faults"]["faults"], 0) << paging();
}
INSTANTIATE_TEST_SUITE_P(Choices, PagingStress,
                         testing::Values(Options{}, Options{"--page-handler", "thread"},
                                         Options{"--page-layout", "in-place", "--page-readahead", "window"},
                                         Options{"--page-readahead", "adaptive", "--page-policy", "clock"}));

}  // namespace
}  // namespace nvmemu
