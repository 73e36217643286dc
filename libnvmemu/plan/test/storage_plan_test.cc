// SPDX-License-Identifier: Apache-2.0
#include "plan/storage_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nvmemu {
namespace {

using ::testing::HasSubstr;

TEST(StoragePlan, AFolderHasAProfileOrALatency) {
  const Result<StorageFolder> disk = parse_storage_folder("/srv/a=b=hdd-7200");
  ASSERT_TRUE(disk);
  EXPECT_EQ(disk->path, "/srv/a=b");
  EXPECT_EQ(disk->profile, "hdd-7200");
  const Result<StorageFolder> slow = parse_storage_folder("/srv=100us");
  ASSERT_TRUE(slow);
  EXPECT_EQ(slow->device.device.flush_ns, 100e3);
  EXPECT_EQ(slow->device.mode, StorageMode::kBlock);
}

TEST(StoragePlan, SaysWhatIsWrongWithOne) {
  for (const char* text : {"", "/srv", "=ssd-nvme", "/srv=", "/srv=flash", "/a\nb=ssd-nvme"}) {
    const Result<StorageFolder> wrong = parse_storage_folder(text);
    ASSERT_FALSE(wrong) << text;
    EXPECT_FALSE(wrong.error().hint.empty()) << text;
  }
}

TEST(StoragePlan, NoFolderIsInAnother) {
  EXPECT_FALSE(parse_storage("/a=ssd-nvme\n/a/b=hdd-7200"));
  EXPECT_FALSE(parse_storage("/a=ssd-nvme\n/a=ssd-nvme"));
  EXPECT_FALSE(parse_storage("a=ssd-nvme"));
  EXPECT_TRUE(parse_storage("/a=ssd-nvme\n/ab=hdd-7200"));
}

TEST(StoragePlan, CrossesTheEnvironment) {
  StoragePlan plan;
  plan.folders = *parse_storage("/a=ssd-nvme\n/b c=100us");
  const auto again = parse_storage(format_storage(plan));
  ASSERT_TRUE(again);
  ASSERT_EQ(again->size(), 2U);
  EXPECT_EQ((*again)[1].path, "/b c");
  EXPECT_EQ((*again)[1].profile, "100us");
}

TEST(StoragePlan, AProfileOfTheUsersCrossesTheEnvironmentWhole) {
  StoragePlan plan;
  StorageDevice device = find_storage("ssd-nvme")->device;
  device.device.channels = 3;
  device.read_ahead_bytes = 1 << 20;
  plan.folders = {{"/a", "mine", device, true}, {"/b", "hdd-7200", find_storage("hdd-7200")->device}};
  const auto again = parse_storage(format_storage(plan));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ((*again)[0].profile, "mine");
  EXPECT_EQ((*again)[0].device, device);
  EXPECT_EQ((*again)[1].device, plan.folders[1].device);
  EXPECT_FALSE(parse_storage("/a=mine{mode: block}"));
  EXPECT_FALSE(parse_storage("/a=mine{"));
  EXPECT_FALSE(parse_storage("/a=mine{tape: 1}"));
}

TEST(StoragePlan, APageCacheHasASize) {
  EXPECT_EQ(*parse_page_cache_bytes("256M"), 256U << 20);
  EXPECT_THAT(parse_page_cache_bytes("1K").error().message, HasSubstr("1 MiB"));
  EXPECT_FALSE(parse_page_cache_bytes("2T"));
  EXPECT_FALSE(parse_page_cache_bytes("much"));
}

}  // namespace
}  // namespace nvmemu
