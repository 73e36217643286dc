// SPDX-License-Identifier: Apache-2.0
// Programs with more memory than they have DRAM. See guest_paging.cc for what each scenario checks from
// within.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "host/test/needs.h"
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

class PagedPrograms : public Paging, public testing::WithParamInterface<const char*> {};

TEST_P(PagedPrograms, SeeWhatTheyWouldSeeOtherwise) {
  expect_paged_ok(GetParam());
  EXPECT_EQ(paging()["surprises"], 0) << paging();
  EXPECT_EQ(paging()["failed_reads"], 0) << paging();
  EXPECT_LE(paging()["most_dram_bytes"], 64 << 20);  // what is pinned, and locked, beside the 2 MiB
  EXPECT_GT(paging()["hard_faults"]["faults"], 0) << paging();
}

INSTANTIATE_TEST_SUITE_P(Guest, PagedPrograms,
                         testing::Values("paged-memory", "paged-calls", "paged-mappings", "paged-forks",
                                         "paged-programs", "paged-signals", "paged-threads",
                                         "paged-descriptors"));

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

// Two seconds here; by hand for as long as its argument says.
TEST_F(Paging, ThreadsThatForkAndMoveTheirMemoryReadWhatTheyWrote) {
  const std::vector<std::string> choices[] = {{},
                                              {"--page-layout", "in-place", "--page-readahead", "window"},
                                              {"--page-readahead", "adaptive", "--page-policy", "clock"}};
  for (const auto& chosen : choices) {
    std::vector<std::string> options = {"--quiet", "--dram", "8M"};
    options.insert(options.end(), chosen.begin(), chosen.end());
    options.insert(options.end(), {"--", NVMEMU_TEST_PAGING_STRESS, "2"});
    const Outcome outcome = run(options);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "ok\n") << outcome.err;
  }
}

// On a file system of its own, which has room for a part of what is paged.
class FullDisk : public Paging, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    Paging::SetUp();
    if (IsSkipped()) return;
    std::filesystem::create_directory(folder_.file("small"));
    NVMEMU_NEEDS(run_beside_tmpfs("true") == 0, "user namespaces that may mount a tmpfs");
  }
  int run_beside_tmpfs(const std::string& command) {
    const std::string mounted = "mount -t tmpfs -o size=4M none " + folder_.file("small");
    const std::string script = "unshare -rm sh -c '" + mounted + " && exec " + command + "' 2>/dev/null";
    return std::system(script.c_str());
  }
};

TEST_P(FullDisk, LosesNothing) {
  EXPECT_EQ(run_beside_tmpfs(std::string(NVMEMU_TEST_BINARY) + " run --quiet --dram 2M --page-layout " +
                             GetParam() + " --page-to " + folder_.file("small") + " --report " +
                             folder_.file("report.json") + " -- " + NVMEMU_TEST_GUEST + " paged-memory"),
            0);
  EXPECT_GT(paging()["failed_writes"], 0) << paging();
  EXPECT_EQ(paging()["failed_reads"], 0) << paging();
  EXPECT_EQ(paging()["surprises"], 0) << paging();
  EXPECT_NE(report()["warnings"].dump().find("is its file system full?"), std::string::npos);
}
INSTANTIATE_TEST_SUITE_P(Paging, FullDisk, testing::Values("log", "in-place", "scattered"));

// The command, what is wrong, and which option is named.
struct Wrong {
  std::vector<std::string> options;
  const char* says;
};
class WrongPaging : public CliTest, public testing::WithParamInterface<Wrong> {};

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
    testing::Values(Wrong{{"--dram", "0"}, "--dram"}, Wrong{{"--dram", "100K"}, "too little DRAM"},
                    Wrong{{"--dram", "1000TiB"}, "more than this machine has"},
                    Wrong{{"--page-latency", "5us"}, "nothing is paged without --dram"},
                    Wrong{{"--dram", "2M", "--page-latency", "5us", "--page-device", "rdma"},
                          "give one of them"},
                    Wrong{{"--dram", "2M", "--page-device", "drum"}, "--page-device"},
                    Wrong{{"--dram", "2M", "--page-layout", "logg"}, "--page-layout"},
                    Wrong{{"--dram", "2M", "--page-readahead", "8"}, "--page-readahead"},
                    Wrong{{"--dram", "2M", "--page-policy", "lru"}, "--page-policy"},
                    Wrong{{"--page-layout", "log"}, "nothing is paged without --dram"},
                    Wrong{{"--dram", "2M", "--page-to", "/nowhere/pages"}, "--page-to: /nowhere/pages"},
                    Wrong{{"--dram", "2M", "--page-to", "/dev/null"}, "neither a folder nor a file"},
                    Wrong{{"--dram", "2M", "--page-to", "/proc"}, "--page-to: /proc"}));

}  // namespace
}  // namespace nvmemu
