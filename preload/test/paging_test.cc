// SPDX-License-Identifier: Apache-2.0
// Programs with more memory than they have DRAM. See guest_paging.cc for what each scenario checks from
// within.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>
#include <vector>

#include "base/test/notified_command.h"
#include "host/test/needs.h"
#include "paging/uffd_mapper.h"
#include "preload_cli.h"

namespace nvmemu {
namespace {

class Paging : public PreloadTest {
 protected:
  void SetUp() override {
    PreloadTest::SetUp();
    NVMEMU_NEEDS_PAGING();
  }
  Json paging() const { return report()["paging"]; }
  double pages(const char* which) const { return paging()[which].get<double>(); }
};

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
    testing::Combine(testing::Values("paged-memory", "paged-calls", "paged-many-parts", "paged-mappings",
                                     "paged-forks", "paged-programs", "paged-signals", "paged-threads",
                                     "paged-descriptors", "paged-last-thread", "paged-locks"),
                     testing::Values("signal", "thread")));

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
  EXPECT_GT(pages("sequential_written_pages"), 9 * pages("random_written_pages")) << paging();
  expect_paged_ok("paged-memory", {"--page-layout", "scattered"});
  EXPECT_LT(pages("sequential_written_pages"), pages("random_written_pages")) << paging();
}

TEST_F(Paging, ADeviceGoesByItsName) {
  expect_paged_ok("paged-programs", {"--page-device", "optane-ssd"});
  EXPECT_EQ(paging()["device"], "optane-ssd");
}

TEST_F(Paging, WearIsToldOfDevicesOfWhichItIsKnown) {
  expect_paged_ok("paged-programs", {"--page-device", "ssd-2008"});
  EXPECT_GT(paging()["wear"]["years"], 0) << paging();
  EXPECT_EQ(paging()["wear"]["capacity_bytes"], 15.8e9);
  expect_paged_ok("paged-programs", {"--page-device", "optane-ssd"});
  EXPECT_TRUE(paging()["wear"].is_null());
}

TEST_F(Paging, NothingIsLeftWherePagesWere) {
  const std::string folder = folder_.file("pages");
  std::filesystem::create_directory(folder);
  expect_paged_ok("paged-memory", {"--page-to", folder});
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  EXPECT_EQ(paging()["page_to"], folder);
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

// Pages go to a file system of its own.
class SmallDisk : public Paging {
 protected:
  void SetUp() override {
    Paging::SetUp();
    if (IsSkipped()) return;
    std::filesystem::create_directory(folder_.file("small"));
    NVMEMU_NEEDS(run_beside_tmpfs("true") == 0, "user namespaces that may mount a tmpfs");
  }
  int run_beside_tmpfs(const std::string& command, const std::string& options = "size=4M") {
    const std::string mounted = "mount -t tmpfs -o " + options + " none " + folder_.file("small");
    const std::string script =
        "unshare -rm sh -c '" + mounted + " && " + command + "' 2>" + folder_.file("said");
    return WEXITSTATUS(std::system(script.c_str()));
  }
  std::string paged_there() const {
    return std::string(NVMEMU_TEST_BINARY) + " run --quiet --dram 2M --page-to " + folder_.file("small") +
           " ";
  }
};

TEST_F(SmallDisk, ThatIsFullAlreadyIsSaidBeforeAnythingStarts) {
  const std::string full = "head -c 64K /dev/zero > " + folder_.file("small/full");
  EXPECT_EQ(run_beside_tmpfs(full + "; " + paged_there() + "-- true", "size=64K"), 125);
  EXPECT_NE(folder_.read("said").find("nothing can be written there"), std::string::npos);
}

TEST_F(SmallDisk, ThatMayNotBeWrittenToIsSaidBeforeAnythingStarts) {
  EXPECT_EQ(run_beside_tmpfs(paged_there() + "-- true", "ro"), 125);
  EXPECT_NE(folder_.read("said").find("no file for pages can be made there"), std::string::npos);
}

// It has room for a part of what is paged.
class FullDisk : public SmallDisk, public testing::WithParamInterface<const char*> {};

TEST_P(FullDisk, LosesNothing) {
  EXPECT_EQ(run_beside_tmpfs("exec " + paged_there() + "--page-layout " + GetParam() + " --report " +
                             folder_.file("report.json") + " -- " + NVMEMU_TEST_GUEST + " paged-memory"),
            0);
  EXPECT_GT(paging()["failed_writes"], 0) << paging();
  EXPECT_EQ(paging()["failed_reads"], 0) << paging();
  EXPECT_EQ(paging()["surprises"], 0) << paging();
  EXPECT_NE(report()["warnings"].dump().find("is its file system full?"), std::string::npos);
}
INSTANTIATE_TEST_SUITE_P(Paging, FullDisk, testing::Values("log", "in-place", "scattered"));

// The command, what is wrong, and which option is named.
struct WrongPagingOptions {
  std::vector<std::string> options;
  const char* says;
};
class WrongPaging : public CliTest, public testing::WithParamInterface<WrongPagingOptions> {};

TEST_P(WrongPaging, IsSaidBeforeAnythingStarts) {
  NVMEMU_NEEDS_PAGING();
  std::vector<std::string> options = GetParam().options;
  options.insert(options.end(), {"--", "true"});
  const Outcome outcome = run(options);
  EXPECT_EQ(outcome.status, 125) << outcome.err;
  EXPECT_NE(outcome.err.find(GetParam().says), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("hint:"), std::string::npos) << outcome.err;
}

INSTANTIATE_TEST_SUITE_P(
    Options, WrongPaging,
    testing::Values(
        WrongPagingOptions{{"--dram", "0"}, "--dram"},
        WrongPagingOptions{{"--dram", "100K"}, "too little DRAM"},
        WrongPagingOptions{{"--dram", "1000TiB"}, "more than this machine has"},
        WrongPagingOptions{{"--page-latency", "5us"}, "nothing is paged without --dram"},
        WrongPagingOptions{{"--dram", "2M", "--page-latency", "5us", "--page-device", "rdma"},
                           "give one of them"},
        WrongPagingOptions{{"--dram", "2M", "--page-device", "drum"}, "--page-device"},
        WrongPagingOptions{{"--dram", "2M", "--page-layout", "logg"}, "--page-layout"},
        WrongPagingOptions{{"--dram", "2M", "--page-readahead", "8"}, "--page-readahead"},
        WrongPagingOptions{{"--dram", "2M", "--page-policy", "lru"}, "--page-policy"},
        WrongPagingOptions{{"--page-layout", "log"}, "nothing is paged without --dram"},
        WrongPagingOptions{{"--page-handler", "thread"}, "nothing is paged without --dram"},
        WrongPagingOptions{{"--dram", "2M", "--page-handler", "kernel"}, "--page-handler"},
        WrongPagingOptions{{"--page-store", "direct"}, "nothing is paged without --dram"},
        WrongPagingOptions{{"--dram", "2M", "--page-store", "page-cache"}, "--page-store"},
        WrongPagingOptions{{"--dram", "2M", "--page-store", "direct", "--page-to", "/nowhere/pages"},
                           "--page-to: /nowhere/pages"},
        WrongPagingOptions{{"--dram", "2M", "--page-to", "/nowhere/pages"}, "--page-to: /nowhere/pages"},
        WrongPagingOptions{{"--dram", "2M", "--page-to", "/dev/null"}, "neither a folder nor a file"},
        WrongPagingOptions{{"--dram", "2M", "--page-to", "/proc"}, "--page-to: /proc"}));

// Or another one of the machine's, in use or not.
TEST_F(Paging, NeverWritesToABlockDevice) {
  std::string device;
  for (const auto& entry : std::filesystem::directory_iterator("/dev")) {
    if (entry.is_block_file()) device = entry.path().string();
  }
  NVMEMU_NEEDS(!device.empty(), "a block device");
  const Outcome outcome = run({"--dram", "2M", "--page-to", device, "--", "true"});
  EXPECT_EQ(outcome.status, 125) << outcome.err;
  EXPECT_NE(outcome.err.find(device + ": neither a folder nor a file"), std::string::npos) << outcome.err;
}

// Each has a file of its own there, whatever the name; what had that name before is as it was.
TEST_F(Paging, TwoRunsMayNameOneFile) {
  const std::string name = folder_.file("pages");
  std::ofstream(name) << "mine";
  const auto started = [&] {
    return start({"run", "--base-latency", "100ns", "--quiet", "--dram", "2M", "--page-to", name, "--",
                  NVMEMU_TEST_GUEST, "paged-memory"});
  };
  const pid_t first = started(), second = started();
  for (const pid_t run : {first, second}) EXPECT_EQ(finish(run).status, 0);
  std::string contents;
  std::ifstream(name) >> contents;
  EXPECT_EQ(contents, "mine");
  const std::filesystem::directory_iterator files(folder_.file(""));
  EXPECT_EQ(std::ranges::count_if(
                files, [](const auto& file) { return file.path().filename().string().starts_with("pages"); }),
            1);
}

// As on a machine that lacks it: which, what is said, and of which option.
struct Lacking {
  const char* machine;
  const char* handler;
  const char* option;
  const char* says;
};
class LesserPaging : public CliTest, public testing::WithParamInterface<Lacking> {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    NVMEMU_NEEDS_PAGING();
    NVMEMU_NEEDS(can_be_notified(), "a seccomp notifier of its own");
  }
};

TEST_P(LesserPaging, SaysWhatIsMissingBeforeAnythingStarts) {
  const Outcome outcome =
      finish(start_program({NVMEMU_TEST_LESSER_MACHINE, GetParam().machine, NVMEMU_TEST_BINARY, "run",
                            "--dram", "2M", "--page-handler", GetParam().handler, "--", "true"}));
  EXPECT_EQ(outcome.status, 125) << outcome.err;
  EXPECT_NE(outcome.err.find(std::string(GetParam().option) + ": " + GetParam().says), std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("hint:"), std::string::npos) << outcome.err;
}

// By hand there is no way back: it runs as it can, and who runs it is told.
TEST_P(LesserPaging, RunsAllTheSameWithoutTheTool) {
  environment_["NVMEMU_DRAM"] = "2M";
  environment_["NVMEMU_PAGE_HANDLER"] = GetParam().handler;
  const Outcome outcome = finish(
      start_program({NVMEMU_TEST_LESSER_MACHINE, GetParam().machine, "/usr/bin/env",
                     std::string("LD_PRELOAD=") + NVMEMU_TEST_LIBRARY, NVMEMU_TEST_GUEST, "paged-memory"}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "ok\n");
  const bool by_signal = std::string(GetParam().handler) == "thread";
  const std::string what = by_signal ? "pages are brought by signals: " : "its memory is not paged: ";
  EXPECT_NE(outcome.err.find(what + GetParam().says), std::string::npos) << outcome.err;
}

std::string name_of_machine(const testing::TestParamInfo<Lacking>& lacking) {
  std::string name = lacking.param.machine;
  std::erase_if(name, [](char c) { return c == '-' || c == '.'; });
  return name;
}

INSTANTIATE_TEST_SUITE_P(Machines, LesserPaging,
                         testing::Values(Lacking{"no-userfaultfd", "signal", "--dram",
                                                 "userfaultfd(2): Operation not permitted"},
                                         Lacking{"no-dispatch", "signal", "--dram",
                                                 "prctl(PR_SET_SYSCALL_USER_DISPATCH) is refused"},
                                         Lacking{"linux-5.10", "signal", "--dram",
                                                 "prctl(PR_SET_SYSCALL_USER_DISPATCH) is refused"},
                                         Lacking{"no-full-userfaultfd", "thread", "--page-handler",
                                                 "a thread may not serve what the kernel touches"}),
                         name_of_machine);

}  // namespace
}  // namespace nvmemu
