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
  PagingPlan plan;
  ASSERT_TRUE(choose_page_device("5us", plan));
  EXPECT_DOUBLE_EQ(plan.device.read.at(0.5), 5e3);
  EXPECT_DOUBLE_EQ(plan.device.write.at(0.99), 5e3);
  ASSERT_TRUE(choose_page_device("optane-ssd", plan));
  EXPECT_GT(plan.device.read_bps, 1e9);
  EXPECT_EQ(format_page_device(plan), "optane-ssd");
  for (const char* const wrong : {"drum", "5", "2h", "mine{}", "mine{mode: block}", "mine{"})
    EXPECT_FALSE(choose_page_device(wrong, plan)) << wrong;
}

TEST(PagingPlan, ADeviceOfTheUsersIsSentWhole) {
  PagingPlan plan, again;
  ASSERT_TRUE(
      choose_page_device("mine{read_latency: 80us; write_latency: 20us; read_bandwidth: 500MB/s; "
                         "write_bandwidth: 400MB/s; erase_block: 4MiB; erase_latency: 2ms; spare: 7%; "
                         "capacity: 480GB; erase_cycles: 3000; flush_latency: 1ms}",
                         plan));
  EXPECT_EQ(plan.device_name, "mine");
  EXPECT_DOUBLE_EQ(plan.device.spare_share, 0.07);
  EXPECT_DOUBLE_EQ(plan.device.capacity_bytes, 480e9);
  ASSERT_TRUE(choose_page_device(format_page_device(plan), again));
  EXPECT_EQ(again.device, plan.device);
  EXPECT_EQ(again.device_name, "mine");
}

}  // namespace
}  // namespace nvmemu
