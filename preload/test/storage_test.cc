// SPDX-License-Identifier: Apache-2.0
// --storage: what calls on files below a folder come to, in real processes. Times are told by sums that the
// report has, and only from below: how late a sleep ends is the machine's doing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "preload_cli.h"

namespace nvmemu {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kPage = 4096;

class Storage : public PreloadTest {
 protected:
  Storage() {
    std::filesystem::create_directory(stored_);
    std::filesystem::create_directory(elsewhere_);
    for (const std::string& folder : {stored_, elsewhere_}) {
      std::ofstream old(folder + "/old");
      for (std::size_t i = 0; i < kPage; ++i) old << static_cast<char>('a' + i * 31 % 23);
    }
  }

  Json stored(const std::string& scenario, const std::string& profile = "100us",
              const std::vector<std::string>& options = {}) {
    return stored_in(stored_, scenario, profile, options);
  }
  Json stored_in(const std::string& folder, const std::string& scenario, const std::string& profile,
                 const std::vector<std::string>& options) {
    std::vector<std::string> all{"--storage", stored_ + "=" + profile, "--report",
                                 folder_.file("report.json")};
    all.insert(all.end(), options.begin(), options.end());
    all.insert(all.end(), {"--", NVMEMU_TEST_STORAGE_CALLS, folder, scenario});
    const Outcome outcome = run(all);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "ok\n");
    err_ = outcome.err;
    return report()["storage"][0];
  }

  const std::string stored_ = folder_.file("stored"), elsewhere_ = folder_.file("elsewhere");
  std::string err_;
};

TEST_F(Storage, SeesWhatIsReadAndWritten) {
  const Json storage = stored("plain");
  EXPECT_EQ(storage["reads"], 8);
  EXPECT_EQ(storage["read_bytes"], 8 * kPage);
  EXPECT_EQ(storage["writes"], 8);
  EXPECT_EQ(storage["written_bytes"], 8 * kPage);
  EXPECT_EQ(storage["hit_pages"], 8);
  EXPECT_EQ(storage["missed_pages"], 0);
  EXPECT_EQ(storage["device_reads"], 0);
  EXPECT_EQ(storage["syncs"], 4);
  EXPECT_EQ(storage["commits"], 3);
  EXPECT_EQ(storage["left_out"], 0);
  EXPECT_EQ(storage["resets"], 0);
  EXPECT_THAT(err_, HasSubstr("storage " + stored_ + " as on 100us (block)"));
}

TEST_F(Storage, SeesStdio) {
  const Json storage = stored("stdio");
  EXPECT_EQ(storage["written_bytes"], 100'000);
  EXPECT_EQ(storage["read_bytes"], 100'000);
}

TEST_F(Storage, CallsTakeAsLongAsTheStorageWould) {
  const Json storage = stored("syncs-of-5-ms", "1ms");
  EXPECT_EQ(storage["commits"], 3);
  EXPECT_EQ(storage["device_writes"], 3);
}

TEST_F(Storage, MemoryIsPaidForByEachCall) {
  const Json storage = stored("plain", "pcm-dax");
  EXPECT_EQ(storage["mode"], "dax");
  EXPECT_EQ(storage["reads"], 8);
  EXPECT_EQ(storage["commits"], 4) << "each sync is one";
  EXPECT_EQ(storage["device_reads"], 0);
  EXPECT_EQ(storage["waited_ns"], 0);
}

TEST_F(Storage, ProcessesShareThePageCache) {
  const Json storage = stored("processes");
  EXPECT_EQ(storage["reads"], 4);
  EXPECT_EQ(storage["missed_pages"], 1);
  EXPECT_EQ(storage["hit_pages"], 3);
  EXPECT_EQ(storage["device_reads"], 1);
}

TEST_F(Storage, ThreadsAndHandlersComeUponNoLock) {
  const Json storage = stored("threads");
  EXPECT_EQ(storage["writes"], 4 * 20);
  EXPECT_EQ(storage["syncs"], 4 * 20);
  EXPECT_EQ(storage["reads"], 2 * 4 * 20);
  const std::uint64_t commits = storage["commits"], shared = storage["shared_commits"];
  EXPECT_EQ(commits + shared, 4U * 20);
  EXPECT_EQ(storage["left_out"], 0);
}

TEST_F(Storage, WhatIsMappedIsToldNotToBeCharged) {
  EXPECT_EQ(stored("mapping")["mapped_bytes"], kPage);
  EXPECT_THAT(err_, HasSubstr("files were mapped (4 KiB)"));
}

TEST_F(Storage, OfMemoryAMappingIsATier) {
  EXPECT_EQ(stored("mapping", "optane-dax")["mapped_bytes"], 0);
  EXPECT_THAT(err_, HasSubstr("tier storage1"));
  EXPECT_THAT(err_, HasSubstr("4 KiB placed"));
}

TEST_F(Storage, FilesElsewhereAreLeftAlone) {
  for (const char* scenario : {"plain", "stdio", "processes"}) {
    const Json storage = stored_in(elsewhere_, scenario, "hdd-7200", {});
    EXPECT_EQ(storage["reads"], 0) << scenario;
    EXPECT_EQ(storage["writes"], 0) << scenario;
    EXPECT_EQ(storage["waited_ns"], 0) << scenario;
  }
}

// By whatever name it is reached, and named.
TEST_F(Storage, LinksLeadToTheFolder) {
  const std::string link = folder_.file("link");
  std::filesystem::create_directory_symlink(stored_, link);
  EXPECT_EQ(stored_in(link, "plain", "100us", {})["reads"], 8);
}

TEST_F(Storage, GoesTogetherWithTheRest) {
  EXPECT_EQ(stored("threads", "100us", {"--read-latency", "2x"})["writes"], 4 * 20);
  EXPECT_EQ(stored("stdio", "100us", {"--dram", "64M"})["read_bytes"], 100'000);
}

TEST_F(Storage, WithoutTheToolItWorksToo) {
  environment_["NVMEMU_STORAGE"] = stored_ + "=100us";
  environment_["NVMEMU_READ_LATENCY"] = "1x";
  environment_["NVMEMU_REPORT"] = folder_.file("report.json");
  environment_["LD_PRELOAD"] = NVMEMU_TEST_LIBRARY;
  const Outcome outcome = finish(start_program({NVMEMU_TEST_STORAGE_CALLS, stored_, "plain"}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(report()["storage"][0]["reads"], 8);
}

struct Wrong {
  std::vector<std::string> options;
  const char* says;
};

class WrongStorage : public CliTest, public testing::WithParamInterface<Wrong> {};

TEST_P(WrongStorage, IsSaidBeforeAnythingStarts) {
  std::vector<std::string> options = GetParam().options;
  options.insert(options.end(), {"--", "/bin/echo", "started"});
  const Outcome outcome = run(options);
  EXPECT_EQ(outcome.status, 125);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Options, WrongStorage,
    testing::Values(Wrong{{"--storage", "/nowhere=ssd-nvme"}, "'/nowhere': No such file"},
                    Wrong{{"--storage", "/etc/passwd=ssd-nvme"}, "'/etc/passwd' is no folder"},
                    Wrong{{"--storage", "/tmp=floppy"}, "there is no storage 'floppy'"},
                    Wrong{{"--storage", "/tmp"}, "no folder and what it is to lie on"},
                    Wrong{{"--storage", "/tmp=0"}, "--storage"},
                    Wrong{{"--storage", "/usr=ssd-nvme", "--storage", "/usr/bin=hdd-7200"}, "is in '/usr'"},
                    Wrong{{"--storage", "/tmp=ssd-nvme", "--storage", "/tmp=hdd-7200"}, "is in '/tmp'"},
                    Wrong{{"--page-cache", "1G"}, "there is no page cache without --storage"},
                    Wrong{{"--storage", "/tmp=ssd-nvme", "--page-cache", "4K"}, "1 MiB to 1 TiB"},
                    Wrong{{"--storage", "/tmp=ssd-nvme", "--page-cache", "1T"},
                          "more than this machine has"}));

}  // namespace
}  // namespace nvmemu
