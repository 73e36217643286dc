// SPDX-License-Identifier: Apache-2.0
#include "system/page_cluster.h"

#include <gtest/gtest.h>

#include <optional>

#include "fake_root.h"
#include "system/kernel_files.h"

namespace nvmemu::pmbench {
namespace {

constexpr const char* kFile = "/proc/sys/vm/page-cluster";

TEST(PageClusterTest, IsSetWhileItLivesThenAsItWas) {
  const FakeRoot root;
  root.write(kFile, "3\n");
  {
    std::optional<PageCluster> kept;
    Result<PageCluster> set = PageCluster::set(0, nullptr, root.path());
    ASSERT_TRUE(set) << set.error().message;
    kept.emplace(*std::move(set));
    EXPECT_EQ(read_line(root.path() + kFile).substr(0, 1), "0");
  }
  EXPECT_EQ(read_line(root.path() + kFile).substr(0, 1), "3");
}

TEST(PageClusterTest, IsAnErrorThatNamesTheOptionWhereItCannotBe) {
  const FakeRoot root;
  const Result<PageCluster> set = PageCluster::set(0, nullptr, root.path());
  ASSERT_FALSE(set);
  EXPECT_TRUE(set.error().message.starts_with("--page-cluster")) << set.error().message;
}

}  // namespace
}  // namespace nvmemu::pmbench
