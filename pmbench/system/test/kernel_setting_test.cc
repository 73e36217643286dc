// SPDX-License-Identifier: Apache-2.0
#include "system/kernel_setting.h"

#include <gtest/gtest.h>

#include <optional>

#include "fake_root.h"
#include "system/kernel_files.h"

namespace nvmemu::pmbench {
namespace {

constexpr const char* kFile = kPageClusterFile;

TEST(KernelSettingTest, IsSetWhileItLivesThenAsItWas) {
  const FakeRoot root;
  root.write(kFile, "3\n");
  {
    std::optional<KernelSetting> kept;
    Result<KernelSetting> set = KernelSetting::set("--page-cluster", root.path() + kFile, "0");
    ASSERT_TRUE(set) << set.error().message;
    kept.emplace(*std::move(set));
    EXPECT_EQ(read_line(root.path() + kFile).substr(0, 1), "0");
  }
  EXPECT_EQ(read_line(root.path() + kFile).substr(0, 1), "3");
}

TEST(KernelSettingTest, IsAnErrorThatNamesTheOptionWhereItCannotBe) {
  const FakeRoot root;
  const Result<KernelSetting> set = KernelSetting::set("--page-cluster", root.path() + kFile, "0");
  ASSERT_FALSE(set);
  EXPECT_TRUE(set.error().message.starts_with("--page-cluster")) << set.error().message;
}

}  // namespace
}  // namespace nvmemu::pmbench
