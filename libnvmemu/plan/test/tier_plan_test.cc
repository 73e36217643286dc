// SPDX-License-Identifier: Apache-2.0
#include "plan/tier_plan.h"

#include <gtest/gtest.h>

namespace nvmemu {
namespace {

TEST(TierPlanTest, ReadsProfilesLatenciesAndMultiples) {
  const auto plan = parse_tiers("nvm=optane-dcpmm,file=/mnt/pmem;far=500ns;slow=2.5x,rest");
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_EQ(plan->tiers.size(), 3U);
  EXPECT_EQ(plan->tiers[0].profile, "optane-dcpmm");
  EXPECT_EQ(plan->tiers[0].memory.read.ns, *find_built_in_profile("optane-dcpmm")->device.read_latency_ns);
  EXPECT_EQ(plan->tiers[0].files, std::vector<std::string>{"/mnt/pmem"});
  EXPECT_EQ(plan->tiers[1].memory.read.ns, 500);
  EXPECT_EQ(plan->tiers[2].memory.read.multiple, 2.5);
  EXPECT_EQ(plan->otherwise, TierPattern::all_of(3));
  EXPECT_EQ(plan->find("far"), 2);
  EXPECT_EQ(plan->find("near"), 0);
}

TEST(TierPlanTest, ReadsInterleaving) {
  const auto plan = parse_tiers("cxl=cxl-dram,interleave=3:2,granularity=2MiB");
  ASSERT_TRUE(plan) << plan.error().message;
  const TierPattern in_turn{
      .parts = {{{.tier = 0, .pages = 3}, {.tier = 1, .pages = 2}}}, .count = 2, .page_bytes = 2U << 20};
  EXPECT_EQ(plan->otherwise, in_turn);
}

TEST(TierPlanTest, ReadsNodes) {
  const auto plan = parse_tiers("far=2x,node=1,size=64GiB;nvm=3x,node=63;other=2x");
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->tiers[0].node, 1);
  EXPECT_EQ(plan->tiers[0].node_bytes, std::uint64_t{64} << 30);
  EXPECT_EQ(plan->tiers[1].node, 63);
  EXPECT_EQ(plan->tiers[1].node_bytes, 0U);
  EXPECT_TRUE(plan->has_nodes());
  EXPECT_FALSE(parse_tiers("far=2x,rest")->has_nodes());
}

TEST(TierPlanTest, ReadsWhatIsAllocatedAndTouched) {
  const auto plan =
      parse_tiers("big=2x,malloc=1MiB;index=3x,caller=build,caller=libindex;late=2x,after=8GiB");
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->tiers[0].least_block_bytes, 1U << 20);
  EXPECT_EQ(plan->tiers[1].least_block_bytes, 64U << 10);
  EXPECT_EQ(plan->tiers[1].callers, (std::vector<std::string>{"build", "libindex"}));
  EXPECT_EQ(plan->tiers[2].after_bytes, std::uint64_t{8} << 30);
  EXPECT_EQ(plan->otherwise, TierPattern{});
  EXPECT_TRUE(plan->has_blocks());
  EXPECT_FALSE(parse_tiers("late=2x,after=8GiB")->has_blocks());
}

TEST(TierPlanTest, AProfileSaysHowPersistsAreTaken) {
  const auto plan = parse_tiers("nvm=optane-dcpmm;pcm=pcm");
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_NEAR(plan->tiers[0].memory.persists.latency.multiple, 90.4 / 86.9,
              1e-9);  // of what a persist takes here
  EXPECT_EQ(plan->tiers[0].memory.persists.bandwidth_bps, 2.3e9);
  EXPECT_EQ(plan->tiers[0].memory.persists.granularity_bytes, 256);
  EXPECT_EQ(plan->tiers[1].memory.persists.latency.ns, 150);
}

TEST(TierPlanTest, TiersHaveBandwidthsOfTheirOwn) {
  const auto plan = parse_tiers("cxl=cxl-dram;far=2x,read-bandwidth=8GB/s,write-bandwidth=2GB/s;near=2x");
  ASSERT_TRUE(plan) << plan.error().message;
  const Device device = find_built_in_profile("cxl-dram")->device;
  EXPECT_EQ(plan->tiers[0].memory.bandwidth.read_bps, device.read_bandwidth_bps.value_or(0));
  EXPECT_EQ(plan->tiers[1].memory.bandwidth, (BandwidthTarget{8e9, 2e9}));
  EXPECT_FALSE(plan->tiers[2].memory.bandwidth.limits());
  EXPECT_TRUE(plan->limits_bandwidth());
  EXPECT_FALSE(parse_tiers("near=2x")->limits_bandwidth());
}

TEST(TierPlanTest, NothingIsNoTier) {
  ASSERT_TRUE(parse_tiers(""));
  EXPECT_TRUE(parse_tiers("")->empty());
}

TEST(TierPlanTest, WhatIsWrittenIsReadAgain) {
  for (const char* text :
       {"a=300ns", "a=300ns,write-latency=600ns,file=/x,file=/y;b=2x,rest",
        "a=2x,write-latency=1.5x,persist-bandwidth=2400000000B/s",
        "a=2x,write-latency=100ns,persist-bandwidth=2400000000B/s,write-granularity=256B,write-queue=4096B",
        "a=2x,caller=f,malloc=65536B;b=3x,after=1048576B", "a=2x,write-latency=1000ns,persist=sync",
        "a=2x,read-bandwidth=1000000000B/s,write-bandwidth=2500000B/s",
        "far=2x,file=/x,node=2,size=1048576B,rest",
        "a=1.5x;b=350.25ns,file=/z,interleave=1:9,granularity=4096B"}) {
    const auto plan = parse_tiers(text);
    ASSERT_TRUE(plan) << text << plan.error().message;
    EXPECT_EQ(format_tiers(*plan), text);
  }
}

struct BadTiers {
  const char* text;
  const char* says;
};

class BadTiersTest : public testing::TestWithParam<BadTiers> {};

TEST_P(BadTiersTest, SaysWhatIsWrong) {
  const auto plan = parse_tiers(GetParam().text);
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().message.find(GetParam().says), std::string::npos) << plan.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    All, BadTiersTest,
    testing::Values(
        BadTiers{"nvm", "names no tier"}, BadTiers{"=300ns", "a tier's name"},
        BadTiers{"n\x1bvm=300ns", "a tier's name"}, BadTiers{"a=300ns;a=400ns", "two of that name"},
        BadTiers{"dram=300ns", "machine's own"}, BadTiers{"nvm=", "what memory it is"},
        BadTiers{"nvm=optan-dcpm", "optan-dcpm"}, BadTiers{"nvm=0.5x", "0.5x"}, BadTiers{"nvm=300", "300"},
        BadTiers{"nvm=300ns,where=/x", "no rule 'where=/x'"}, BadTiers{"nvm=300ns,,rest", "no rule"},
        BadTiers{"nvm=300ns,file=x", "from the root"}, BadTiers{"nvm=300ns,file=", "from the root"},
        BadTiers{"nvm=300ns,interleave=3", "two numbers"},
        BadTiers{"nvm=300ns,interleave=0:1", "two numbers"},
        BadTiers{"nvm=300ns,interleave=1:2:3", "two numbers"},
        BadTiers{"nvm=300ns,interleave=-1:2", "two numbers"},
        BadTiers{"nvm=300ns,write-latency=fast", "write-latency: 'fast'"},
        BadTiers{"nvm=300ns,persist=now", "persist: 'now' is not one of queue"},
        BadTiers{"nvm=300ns,persist-bandwidth=2", "persist-bandwidth: '2'"},
        BadTiers{"nvm=300ns,write-granularity=100B", "write-granularity: '100B': not a power of two"},
        BadTiers{"nvm=300ns,write-granularity=2MiB", "from 64B to 1 MiB"},
        BadTiers{"nvm=300ns,write-queue=1B", "write-queue: '1B': not a size from 64B"},
        BadTiers{"nvm=300ns,write-granularity=256B", "go with persist-bandwidth="},
        BadTiers{"nvm=300ns,write-latency=1us,write-queue=4KiB", "go with persist-bandwidth="},
        BadTiers{"nvm=300ns,rest,interleave=1:1", "each say"},
        BadTiers{"nvm=300ns,granularity=4KiB", "goes with"},
        BadTiers{"nvm=300ns,rest,granularity=4KiB", "goes with"},
        BadTiers{"nvm=300ns,interleave=1:1,granularity=5000B", "power of two"},
        BadTiers{"a=2x,node=0", "from 1 to 63"}, BadTiers{"a=2x,node=64", "from 1 to 63"},
        BadTiers{"a=2x,node=1x", "from 1 to 63"}, BadTiers{"a=2x,node", "no rule 'node'"},
        BadTiers{"a=2x,node=1;b=2x,node=1", "is node 1 already"},
        BadTiers{"a=2x,caller=f;b=3x,caller=g,caller=f", "tier a has what f allocates already"},
        BadTiers{"a=2x,caller=f;b=3x,caller=f,malloc=1MiB", "tier a has what f allocates already"},
        BadTiers{"a=2x,malloc=1MiB;b=3x,malloc=1024KiB", "tier a has blocks of that size"},
        BadTiers{"nvm=no-such.toml", "cannot read no-such.toml"},
        BadTiers{"a=2x,size=1GiB", "goes with node="}, BadTiers{"a=2x,node=1,size=1000B", "size= takes"},
        BadTiers{"a=2x,node=1,size=big", "size: 'big'"}, BadTiers{"a=2x,rest=1", "no rule 'rest=1'"},
        BadTiers{"a=300ns,rest;b=400ns,interleave=1:1", "tier a has the rest"},
        BadTiers{"a=300ns,file=/x;b=400ns,file=/x/y", "overlap"},
        BadTiers{"a=300ns,file=/x/y/;b=400ns,file=/x", "overlap"},
        BadTiers{"a=2x;b=2x;c=2x;d=2x;e=2x;f=2x;g=2x;h=2x", "no more than 7"}));

TEST(TierPlanTest, NamesThatBeginAlikeDoNotOverlap) {
  EXPECT_TRUE(parse_tiers("a=300ns,file=/x;b=400ns,file=/xy"));
}

}  // namespace
}  // namespace nvmemu
