// SPDX-License-Identifier: Apache-2.0
#include "swap/swap_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nvmemu::pmbench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class SwapChoiceTest : public testing::Test {
 protected:
  // Swap is its kind's name.
  Result<ChosenSwap<std::string>> choose(const SwapRequest& request = {}) {
    return choose_swap<std::string>(request, [&](std::string_view kind) -> Result<std::string> {
      tried_.emplace_back(kind);
      if (kind == kNullBlockDevice && !has_null_block_) return failure("no null_blk here");
      if (kind == kZramDevice && !has_zram_) return failure("no zram here", "modprobe zram");
      return std::string(kind);
    });
  }
  bool has_null_block_ = true, has_zram_ = true;
  std::vector<std::string> tried_;
};

TEST_F(SwapChoiceTest, IsNullBlockWhereItCanBe) {
  const auto chosen = choose();
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->swap, "null_blk");
  EXPECT_EQ(chosen->why_not_null_block, "");
  EXPECT_THAT(tried_, ElementsAre("null_blk"));
}

TEST_F(SwapChoiceTest, IsZramWhereThereIsNoNullBlock) {
  has_null_block_ = false;
  const auto chosen = choose();
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->swap, "zram");
  EXPECT_EQ(chosen->why_not_null_block, "no null_blk here");
}

TEST_F(SwapChoiceTest, IsZramForAProfile) {
  const auto chosen = choose({.device = "auto", .profile = "optane-ssd"});
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->swap, "zram");
  EXPECT_THAT(chosen->why_not_null_block, HasSubstr("one latency"));
  EXPECT_THAT(tried_, ElementsAre("zram"));
}

TEST_F(SwapChoiceTest, SaysWhyThereIsNoneAndWhatGoesWithoutRoot) {
  has_null_block_ = has_zram_ = false;
  const auto chosen = choose({.device = "auto", .latency_ns = 7000});
  ASSERT_FALSE(chosen);
  EXPECT_THAT(chosen.error().message, AllOf(HasSubstr("no null_blk here"), HasSubstr("no zram here")));
  EXPECT_THAT(chosen.error().hint,
              AllOf(HasSubstr("modprobe zram"), HasSubstr("nvmemu run --dram 256M --page-latency 7us -- ")));
}

TEST_F(SwapChoiceTest, NamesTheProfilesPager) {
  EXPECT_THAT(hint_without_root({.device = "zram", .profile = "rdma"}), HasSubstr("--page-device rdma -- "));
}

TEST_F(SwapChoiceTest, NamesItBesideWhatMendsTheRest) {
  const SwapRequest request{.device = "zram", .latency_ns = 5000};
  EXPECT_EQ(hinting_without_root({"no zram here", "modprobe zram"}, request).hint,
            "modprobe zram; " + hint_without_root(request));
  EXPECT_EQ(hinting_without_root({"disk full", ""}, request).hint, hint_without_root(request));
}

}  // namespace
}  // namespace nvmemu::pmbench
