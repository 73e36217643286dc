// SPDX-License-Identifier: Apache-2.0
#include "plan/paging_plan.h"

#include <gtest/gtest.h>

namespace nvmemu {
namespace {

TEST(PagingPlan, DramIsASizeOfAMegabyteAtLeast) {
  EXPECT_EQ(parse_dram_bytes("256M").value_or(0), 256ULL << 20);
  EXPECT_EQ(parse_dram_bytes("1MiB").value_or(0), 1ULL << 20);
  for (const char* const wrong : {"0", "1000K", "", "-1M", "lots"}) {
    const auto refused = parse_dram_bytes(wrong);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_FALSE(refused.error().hint.empty()) << wrong;
  }
}

TEST(PagingPlan, ADeviceIsALatencyOrAProfile) {
  ASSERT_TRUE(parse_page_device("5us"));
  EXPECT_DOUBLE_EQ(parse_page_device("5us")->read.at(0.5), 5e3);
  EXPECT_DOUBLE_EQ(parse_page_device("5us")->write.at(0.99), 5e3);
  ASSERT_TRUE(parse_page_device("optane-ssd"));
  EXPECT_GT(parse_page_device("optane-ssd")->read_bps, 1e9);
  EXPECT_FALSE(parse_page_device("drum"));
  EXPECT_FALSE(parse_page_device("5"));
  EXPECT_FALSE(parse_page_device("2h"));
}

}  // namespace
}  // namespace nvmemu
