// SPDX-License-Identifier: Apache-2.0
// What tiers ask of the machine, on machines that are files.
#include "tier_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/test/fake_root.h"

namespace nvmemu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Of nodes 0, 1 and 3, and a GiB.
MemoryNodes machine() {
  const FakeRoot root;
  root.write("/sys/devices/system/node/online", "0-1,3\n");
  root.write("/proc/meminfo", "MemTotal:        1048576 kB\n");
  return read_memory_nodes(root.path());
}

TierSpec node(int number, std::uint64_t bytes = 0) {
  TierSpec tier;
  tier.name = "far";
  tier.node = number;
  tier.node_bytes = bytes;
  return tier;
}

TEST(TierOptions, ANodeThatTheMachineHasIsRefused) {
  for (const int number : {1, 3}) {
    RunRequest request;
    const auto checked = check_against_machine(node(number), machine(), request);
    ASSERT_FALSE(checked) << number;
    EXPECT_EQ(checked.error().message,
              "tier far: this machine has a node " + std::to_string(number) + " of its own");
    EXPECT_EQ(checked.error().hint, "its nodes are 0-1,3: take a number that is none of them");
  }
}

TEST(TierOptions, AnotherIsShown) {
  RunRequest request;
  EXPECT_TRUE(check_against_machine(node(2), machine(), request));
  EXPECT_TRUE(check_against_machine(node(63, 1U << 30), machine(), request));
  EXPECT_THAT(request.warnings, IsEmpty());
}

TEST(TierOptions, MoreThanTheMachineHasIsWarnedOf) {
  RunRequest request;
  EXPECT_TRUE(check_against_machine(node(2, 2U << 30), machine(), request));
  TierSpec later = node(0);
  later.after_bytes = 2U << 30;
  EXPECT_TRUE(check_against_machine(later, machine(), request));
  EXPECT_THAT(request.warnings, ElementsAre(HasSubstr("node 2 is shown with 2 GiB, more than"),
                                            HasSubstr("after 2 GiB nothing will be in it")));
}

}  // namespace
}  // namespace nvmemu
