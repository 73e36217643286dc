// SPDX-License-Identifier: Apache-2.0
// Where pages lie that are not in DRAM: past a disk's page cache, in it, or in memory. See guest_paging.cc
// for what each scenario checks from within.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/test/notified_command.h"
#include "paging/file_store.h"
#include "paging_cli.h"

namespace nvmemu {
namespace {

bool disk_takes_direct() {
  const Result<StoreMedium> medium = check_page_store(NVMEMU_TEST_DISK, StoreKind::kDirect);
  return medium && *medium == StoreMedium::kDirect;
}

class PagedInFiles : public Paging {};

// What is asked for, where, and what the report says then.
struct Stored {
  const char* store;
  const char* folder;
  const char* is;
};
class PageStores : public PagedInFiles, public testing::WithParamInterface<Stored> {
 protected:
  void SetUp() override {
    PagedInFiles::SetUp();
    if (IsSkipped()) return;
    NVMEMU_NEEDS(std::string(GetParam().is) != "direct" || disk_takes_direct(),
                 "a build folder whose file system takes O_DIRECT");
  }
  static std::vector<std::string> options() {
    return {"--page-store", GetParam().store, "--page-to", GetParam().folder, "--page-readahead", "adaptive"};
  }
};

TEST_P(PageStores, LoseNothing) {
  for (const char* const scenario : {"paged-memory", "paged-forks", "paged-threads"}) {
    expect_paged_ok(scenario, options());
    EXPECT_EQ(paging()["store"], GetParam().is);
    EXPECT_EQ(paging()["surprises"], 0) << paging();
    EXPECT_EQ(paging()["failed_reads"], 0) << paging();
    EXPECT_EQ(paging()["failed_writes"], 0) << paging();
    EXPECT_GT(paging()["hard_faults"]["faults"], 0) << paging();
    EXPECT_EQ(report()["warnings"].dump().find("page cache"), std::string::npos) << report()["warnings"];
  }
}

TEST_P(PageStores, LoseNothingWhereThereIsNoRoom) {
  expect_paged_ok("paged-little-room", options());
  EXPECT_EQ(paging()["store"], GetParam().is);
  EXPECT_GT(paging()["failed_writes"], 0) << paging();
  EXPECT_EQ(paging()["failed_reads"], 0) << paging();
  EXPECT_EQ(paging()["surprises"], 0) << paging();
  EXPECT_NE(report()["warnings"].dump().find("is its file system full?"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Paging, PageStores,
                         testing::Values(Stored{"direct", NVMEMU_TEST_DISK, "direct"},
                                         Stored{"auto", NVMEMU_TEST_DISK, "direct"},
                                         Stored{"cached", NVMEMU_TEST_DISK, "page-cache"},
                                         Stored{"auto", "/dev/shm", "memory"},
                                         Stored{"cached", "/dev/shm", "memory"}),
                         [](const auto& stored) {
                           const bool on_disk = std::string(stored.param.folder) == NVMEMU_TEST_DISK;
                           return std::string(stored.param.store) + (on_disk ? "_on_disk" : "_in_memory");
                         });

TEST_F(PagedInFiles, InMemoryIsNotOutOfDram) {
  const Outcome outcome =
      run({"--dram", "2M", "--page-to", "/dev/shm", "--page-store", "direct", "--", "true"});
  EXPECT_EQ(outcome.status, 125) << outcome.err;
  EXPECT_NE(outcome.err.find("--page-store direct: /dev/shm: its file system is in memory"),
            std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("hint: name a folder on a disk"), std::string::npos) << outcome.err;
}

// File systems that go through the page cache only.
class CachedDisk : public PagedInFiles {
 protected:
  void SetUp() override {
    PagedInFiles::SetUp();
    if (IsSkipped()) return;
    NVMEMU_NEEDS(can_be_notified(), "a seccomp notifier of its own");
    NVMEMU_NEEDS(disk_takes_direct(), "a build folder whose file system takes O_DIRECT");
  }
  Outcome run_there(const std::string& store, const std::string& scenario) {
    return finish(start_program({NVMEMU_TEST_LESSER_MACHINE, "no-direct-io", NVMEMU_TEST_BINARY, "run",
                                 "--base-latency", "100ns", "--quiet", "--dram", "2M", "--page-to",
                                 NVMEMU_TEST_DISK, "--page-store", store, "--report",
                                 folder_.file("report.json"), "--", NVMEMU_TEST_GUEST, scenario}));
  }
};

TEST_F(CachedDisk, IsRefusedWhereItIsToBePastTheCache) {
  const Outcome outcome = run_there("direct", "paged-memory");
  EXPECT_EQ(outcome.status, 125) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("refuses requests past the page cache (O_DIRECT)"), std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("hint: name a folder on a disk"), std::string::npos) << outcome.err;
}

TEST_F(CachedDisk, IsUsedAsItIsOtherwise) {
  const Outcome outcome = run_there("auto", "paged-forks");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "ok\n") << outcome.err;
  EXPECT_EQ(paging()["store"], "page-cache");
  EXPECT_EQ(paging()["surprises"], 0) << paging();
  EXPECT_GT(paging()["hard_faults"]["faults"], 0) << paging();
}

// By hand nobody has looked before.
TEST_F(CachedDisk, IsSaidToWhoAskedByHand) {
  environment_["NVMEMU_DRAM"] = "2M";
  environment_["NVMEMU_PAGE_TO"] = NVMEMU_TEST_DISK;
  environment_["NVMEMU_PAGE_STORE"] = "direct";
  const Outcome outcome = finish(
      start_program({NVMEMU_TEST_LESSER_MACHINE, "no-direct-io", "/usr/bin/env",
                     std::string("LD_PRELOAD=") + NVMEMU_TEST_LIBRARY, NVMEMU_TEST_GUEST, "paged-memory"}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "ok\n");
  EXPECT_NE(outcome.err.find("pages go through the page cache: its file system refuses O_DIRECT"),
            std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("requests past it (O_DIRECT) were refused"), std::string::npos) << outcome.err;
}

// Two seconds of threads that fork, and check all that they read, while pages come and go.
TEST_F(PagedInFiles, ReadsWhatWasWrittenUnderStress) {
  NVMEMU_NEEDS(disk_takes_direct(), "a build folder whose file system takes O_DIRECT");
  const Outcome outcome =
      run({"--quiet", "--dram", "8M", "--page-store", "direct", "--page-to", NVMEMU_TEST_DISK,
           "--page-readahead", "adaptive", "--report", folder_.file("report.json"), "--",
           NVMEMU_TEST_PAGING_STRESS, "--seconds", "2"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "ok\n") << outcome.err;
  EXPECT_EQ(paging()["store"], "direct");
  EXPECT_EQ(paging()["surprises"], 0) << paging();
  EXPECT_EQ(paging()["failed_reads"], 0) << paging();
  EXPECT_GT(paging()["hard_faults"]["faults"], 0) << paging();
}

}  // namespace
}  // namespace nvmemu
