// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/storage_device.h"

namespace nvmemu {
namespace {

using ::testing::HasSubstr;

TEST(StorageProfiles, SayWhereTheirFiguresComeFrom) {
  for (const StorageProfile& profile : storage_profiles()) {
    EXPECT_FALSE(profile.source.empty()) << profile.name;
    EXPECT_FALSE(profile.description.empty()) << profile.name;
  }
}

TEST(StorageProfiles, HaveWhatTheirKindNeeds) {
  for (const StorageProfile& profile : storage_profiles()) {
    const StorageDevice& storage = profile.device;
    EXPECT_GT(storage.device.read.at(0.5), 0) << profile.name;
    EXPECT_GT(storage.device.read_bps, 0) << profile.name;
    EXPECT_GT(storage.device.write_bps, 0) << profile.name;
    EXPECT_EQ(storage.mode == StorageMode::kBlock, storage.device.flush_ns > 0 && storage.commit_ns == 0)
        << profile.name;
  }
}

TEST(StorageProfiles, AreFoundByName) {
  EXPECT_EQ(find_storage("hdd-7200")->device.mode, StorageMode::kBlock);
  const Result<StorageProfile> wrong = find_storage("hdd-720");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("there is no storage 'hdd-720'"));
  EXPECT_THAT(wrong.error().hint, HasSubstr("hdd-7200"));
}

}  // namespace
}  // namespace nvmemu
