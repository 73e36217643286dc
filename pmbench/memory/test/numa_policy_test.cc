// SPDX-License-Identifier: Apache-2.0
#include "memory/numa_policy.h"

#include <gtest/gtest.h>
#include <numa.h>
#include <numaif.h>
#include <sched.h>

#include <thread>

#include "memory/mapping.h"

namespace nvmemu::pmbench {
namespace {

class NumaPolicy : public testing::Test {
 protected:
  void SetUp() override {
    if (numa_available() < 0) GTEST_SKIP() << "this kernel knows no NUMA policies";
  }
};

TEST_F(NumaPolicy, IsThatOfTheMapping) {
  const std::pair<const char*, int> policies[] = {{"bind:0", MPOL_BIND}, {"interleave:0", MPOL_INTERLEAVE}};
  for (const auto& [text, expected] : policies) {
    const auto mapping = Mapping::create({.bytes = 1 << 20, .numa = text});
    ASSERT_TRUE(mapping) << mapping.error().message;
    int mode = -1;
    ASSERT_EQ(get_mempolicy(&mode, nullptr, 0, mapping->data(), MPOL_F_ADDR), 0);
    EXPECT_EQ(mode, expected) << text;
  }
}

TEST_F(NumaPolicy, IsCheckedBeforeThereIsAMapping) {
  for (const char* text : {"", "bind:0", "bind:all", "preferred:0", "interleave:0", "local"})
    EXPECT_TRUE(check_policy(text)) << text;
  for (const char* text : {"bind", "bind:", "bind:x", "bind:1023", "near:0", "local:0", "0"}) {
    const Result<void> checked = check_policy(text);
    ASSERT_FALSE(checked) << text;
    EXPECT_TRUE(checked.error().message.starts_with("--numa")) << checked.error().message;
  }
}

TEST_F(NumaPolicy, AnAffinityPlacesThreadsInTurn) {
  const Result<Affinity> affinity = Affinity::parse("0:0");
  ASSERT_TRUE(affinity) << affinity.error().message;
  EXPECT_EQ(affinity->policy(), "bind:0");
  std::thread([&] {
    ASSERT_TRUE(affinity->place_this_thread(5));
    cpu_set_t set;
    ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
    EXPECT_EQ(CPU_COUNT(&set), 1);
    EXPECT_TRUE(CPU_ISSET(0, &set));
  }).join();
  EXPECT_FALSE(Affinity::parse("x"));
  EXPECT_FALSE(Affinity::parse("0:x"));
  EXPECT_TRUE(Affinity::parse(""));
}

}  // namespace
}  // namespace nvmemu::pmbench
