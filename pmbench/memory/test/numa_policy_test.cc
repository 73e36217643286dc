// SPDX-License-Identifier: Apache-2.0
#include "memory/numa_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numa.h>
#include <numaif.h>
#include <sched.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "memory/mapping.h"

namespace nvmemu::pmbench {
namespace {

class NumaPolicy : public testing::Test {
 protected:
  void SetUp() override {
    if (numa_available() < 0) GTEST_SKIP() << "needs a kernel with NUMA policies";
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

// As CXL memory and persistent memory are seen. Few machines have one; tools/test --guest emulates one.
class NodeWithoutProcessors : public NumaPolicy {
 protected:
  void SetUp() override {
    NumaPolicy::SetUp();
    for (int node = 0; !IsSkipped() && node <= numa_max_node(); ++node) {
      if (numa_bitmask_isbitset(numa_all_nodes_ptr, static_cast<unsigned>(node)) != 0 && is_without(node))
        node_ = node;
    }
    if (!IsSkipped() && node_ < 0) GTEST_SKIP() << "needs a NUMA node without processors";
  }
  static bool is_without(int node) {
    bitmask* processors = numa_allocate_cpumask();
    const bool found = numa_node_to_cpus(node, processors) == 0 && numa_bitmask_weight(processors) == 0;
    numa_free_cpumask(processors);
    return found;
  }

  int node_ = -1;
};

TEST_F(NodeWithoutProcessors, HoldsTheMapThatIsBoundToIt) {
  constexpr std::size_t kPages = 256;
  constexpr std::size_t kPageBytes = 4096;
  const std::string policy = "bind:" + std::to_string(node_);
  ASSERT_TRUE(check_policy(policy));
  const auto mapping = Mapping::create({.bytes = kPages * kPageBytes, .numa = policy});
  ASSERT_TRUE(mapping) << mapping.error().message;
  std::vector<void*> pages;
  for (std::size_t i = 0; i < kPages; ++i) {
    pages.push_back(mapping->data() + i * kPageBytes);
    *static_cast<volatile std::byte*>(pages.back()) = std::byte{1};
  }
  std::vector<int> where(kPages, -1);
  ASSERT_EQ(move_pages(0, kPages, pages.data(), nullptr, where.data(), 0), 0);
  EXPECT_THAT(where, testing::Each(node_));
}

}  // namespace
}  // namespace nvmemu::pmbench
