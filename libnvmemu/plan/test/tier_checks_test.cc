// SPDX-License-Identifier: Apache-2.0
// What tiers ask of the machine, on machines that are files.
#include "plan/tier_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/test/temporary_folder.h"
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

TierSpec of_files(std::vector<std::string> files) {
  TierSpec tier;
  tier.name = "far";
  tier.files = std::move(files);
  return tier;
}

TEST(TierChecks, ANodeThatTheMachineHasIsRefused) {
  for (const int number : {1, 3}) {
    const auto checked = check_tier_node(node(number), machine());
    ASSERT_FALSE(checked) << number;
    EXPECT_EQ(checked.error().message,
              "tier far: this machine has a node " + std::to_string(number) + " of its own");
    EXPECT_EQ(checked.error().hint, "its nodes are 0-1,3: take a number that is none of them");
  }
}

TEST(TierChecks, AnotherIsShown) {
  for (const TierSpec& shown : {node(2), node(63, 1U << 30), node(0)}) {
    EXPECT_TRUE(check_tier_node(shown, machine()));
    EXPECT_THAT(warnings_of_sizes(shown, machine()), IsEmpty());
  }
}

TEST(TierChecks, MoreThanTheMachineHasIsWarnedOf) {
  EXPECT_THAT(warnings_of_sizes(node(2, 2U << 30), machine()),
              ElementsAre(HasSubstr("tier far: node 2 is shown with 2 GiB, more than")));
  TierSpec later = node(0);
  later.after_bytes = 2U << 30;
  EXPECT_THAT(warnings_of_sizes(later, machine()),
              ElementsAre(HasSubstr("after 2 GiB nothing will be in it, for this machine has 1 GiB")));
  TierSpec of_blocks = node(0);
  of_blocks.least_block_bytes = 2U << 30;
  EXPECT_THAT(warnings_of_sizes(of_blocks, machine()),
              ElementsAre(HasSubstr("no block of 2 GiB will be in it, for this machine has 1 GiB")));
  EXPECT_THAT(warnings_of_sizes(later, {}), IsEmpty()) << "nobody knows what it has";
}

TEST(TierChecks, FilesAreAsTheKernelNamesThem) {
  const TemporaryFolder folder;
  folder.write("pool", "");
  std::filesystem::create_symlink(folder.file("pool"), folder.file("link"));
  TierSpec tier = of_files({folder.file("link"), folder.path() + "//."});
  ASSERT_TRUE(find_tier_files(tier));
  const std::filesystem::path real = std::filesystem::canonical(folder.path());
  EXPECT_THAT(tier.files, ElementsAre((real / "pool").string(), real.string()));
}

TEST(TierChecks, AFileThatIsNotThereIsRefused) {
  TierSpec tier = of_files({"/proc", "/no/such"});
  const auto found = find_tier_files(tier);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message, "tier far: '/no/such': No such file or directory");
  EXPECT_THAT(found.error().hint, HasSubstr("make the file or its folder first"));
}

TEST(TierChecks, ALinkToANameThatCannotBeWrittenIsRefused) {
  const TemporaryFolder folder;
  folder.write("a;b", "");
  std::filesystem::create_symlink(folder.file("a;b"), folder.file("link"));
  TierSpec tier = of_files({folder.file("link")});
  const auto found = find_tier_files(tier);
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("has a comma or semicolon in it"));
}

TEST(TierChecks, ALatencyBelowTheMachinesIsRefusedButOfStorage) {
  TierSpec tier = node(0);
  tier.memory.read.ns = 50;
  const auto target = tier_target_ns(tier, 100);
  ASSERT_FALSE(target);
  EXPECT_THAT(target.error().message,
              HasSubstr("tier far asks for 50 ns, and this machine's memory already"));
  tier.of_storage = true;
  EXPECT_EQ(*tier_target_ns(tier, 100), 100);
  tier.memory.read = {.multiple = 3};
  EXPECT_EQ(*tier_target_ns(tier, 100), 300);
}

}  // namespace
}  // namespace nvmemu
