// SPDX-License-Identifier: Apache-2.0
// Storage that is full, or broken: programs are told as ever, and nothing is charged for what was refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

#include "storage_cli.h"

namespace nvmemu {
namespace {

using ::testing::HasSubstr;

TEST_F(Storage, WhatDoesNotGoInIsSaidAsEver) {
  const Json storage = stored("too-large");
  EXPECT_EQ(storage["written_bytes"], 12'000);
  EXPECT_EQ(storage["failed"], 2);
}

// A file system of 16 pages, below the folder.
class FullStorage : public Storage {
 protected:
  void SetUp() override {
    Storage::SetUp();
    std::filesystem::create_directory(full_);
    is_mounted_ = mount("none", full_.c_str(), "tmpfs", 0, "size=64k") == 0;
    if (!is_mounted_) GTEST_SKIP() << "a file system cannot be mounted here: " << std::strerror(errno);
  }
  void TearDown() override {
    if (is_mounted_) umount2(full_.c_str(), MNT_DETACH);
    Storage::TearDown();
  }

  const std::string full_ = stored_ + "/full";
  bool is_mounted_ = false;
};

TEST_F(FullStorage, IsSaidAsEverAndNothingIsChargedForWhatIsNotWritten) {
  EXPECT_EQ(finish(start_program({NVMEMU_TEST_STORAGE_CALLS, full_, "full"})).out, "ok\n") << "natively";
  for (const char* file : {"/a", "/b"}) std::filesystem::remove(full_ + file);
  const Json storage = stored_in(full_, "full", "100us", {});
  EXPECT_NE(report()["warnings"].dump().find("make room there"), std::string::npos) << report()["warnings"];
  EXPECT_EQ(storage["written_bytes"], 17 * kPage);
  EXPECT_EQ(storage["writes"], 5 + 1 + 1);
  EXPECT_EQ(storage["device_written_pages"], 16);
  EXPECT_EQ(storage["syncs"], 1);
  EXPECT_EQ(storage["failed"], 6);
  EXPECT_THAT(err_, HasSubstr("the real storage refused 6 calls"));
}

TEST_F(FullStorage, IsSaidAsEverWhereCallsAreTrapped) {
  const Json storage = stored_in(full_, "full", "100us", {"--dram", "64M"});
  EXPECT_EQ(storage["written_bytes"], 17 * kPage);
  EXPECT_EQ(storage["device_written_pages"], 16);
  EXPECT_EQ(storage["failed"], 6);
}

TEST_F(Storage, OfBrokenStorageTheErrorsAreTheProgramsAndNothingIsCharged) {
  environment_["LD_PRELOAD"] = NVMEMU_TEST_TROUBLED_STORAGE;
  const Json storage = stored("refused");
  EXPECT_EQ(storage["writes"], 1);
  EXPECT_EQ(storage["written_bytes"], kPage);
  EXPECT_EQ(storage["device_written_pages"], 1);
  EXPECT_EQ(storage["syncs"], 1);
  EXPECT_EQ(storage["failed"], 2) << "and not what the program has asked wrongly";
}

}  // namespace
}  // namespace nvmemu
