// SPDX-License-Identifier: Apache-2.0
#include "touch/touch_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "system/test/fake_root.h"

namespace nvmemu::pmbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t kGibibyte = std::uint64_t{1} << 30;

TouchMachine usual() {
  TouchMachine machine;
  machine.management.huge_pages = "madvise";
  machine.management.memory_bytes = 8 * kGibibyte;
  machine.management.available_bytes = 6 * kGibibyte;
  machine.management.swap_bytes = machine.management.swap_free_bytes = 2 * kGibibyte;
  machine.min_free_bytes = 64 * kMebibyte;
  return machine;
}

TouchOptions limited() {
  TouchOptions options;
  options.memory_limit_bytes = 256 * kMebibyte;
  return options;
}

TouchOptions whole() {
  TouchOptions options;
  options.whole_machine = true;
  return options;
}

void expect_refused(const TouchOptions& options, const TouchMachine& machine, const char* message,
                    const char* hint) {
  const Result<void> checked = check_touch(options, machine);
  ASSERT_FALSE(checked) << message;
  EXPECT_THAT(checked.error().message, HasSubstr(message));
  EXPECT_THAT(checked.error().hint, HasSubstr(hint));
}

TEST(TouchLimits, LetThroughWhatProtectsTheMachine) {
  EXPECT_TRUE(check_touch(limited(), usual()));
  EXPECT_TRUE(check_touch(whole(), usual()));
  const TouchNeeds needs = touch_needs(limited(), usual());
  EXPECT_EQ(needs.touched_bytes, 288 * kMebibyte);
  EXPECT_EQ(needs.swap_bytes, 32 * kMebibyte);
  EXPECT_THAT(
      describe(needs, limited()),
      HasSubstr(
          "5 runs of cont: 288 MiB touched where 256 MiB are allowed, so that about 32 MiB go to swap"));
}

TEST(TouchLimits, RefuseWhatDoesNot) {
  TouchOptions options;
  expect_refused(options, usual(), "--memory-limit is missing", "--memory-limit 256M");
  options = limited();
  options.memory_limit_bytes = 16 * kMebibyte;
  expect_refused(options, usual(), "no room for the program itself", "at least 64 MiB");
  options.memory_limit_bytes = 4 * kGibibyte;
  expect_refused(options, usual(), "more than half of the 6 GiB", "at most 3 GiB");
}

TEST(TouchLimits, RefuseARatioThatDoesNotPage) {
  TouchOptions options = limited();
  options.ratio = 0.99;
  expect_refused(options, usual(), "--ratio: 0.99 is below 1", "18/16");
}

TEST(TouchLimits, LeaveHalfOfTheSwapFree) {
  TouchMachine machine = usual();
  machine.management.swap_free_bytes = 60 * kMebibyte;
  expect_refused(limited(), machine, "more than half of the 60 MiB of swap",
                 "a smaller --ratio or --memory-limit");
  machine.management.swap_bytes = machine.management.swap_free_bytes = 0;
  expect_refused(limited(), machine, "no swap", "--swap-device zram");
}

TEST(TouchLimits, RefuseHugePagesThatAreForbidden) {
  TouchMachine machine = usual();
  TouchOptions options = limited();
  options.huge_pages = {HugePages::kOff, HugePages::kOn};
  EXPECT_TRUE(check_touch(options, machine));
  machine.management.huge_pages = "never";
  expect_refused(options, machine, "forbidden", "echo madvise");
  machine.management.huge_pages = "none";
  expect_refused(options, machine, "no transparent huge pages", "--thp off");
}

TEST(TouchLimits, LeaveRoomForTheZramDevice) {
  TouchMachine machine = usual();
  machine.management.swap_bytes = machine.management.swap_free_bytes = 0;
  TouchOptions options = limited();
  options.swap_device = "zram";
  if (geteuid() != 0) {
    expect_refused(options, machine, "takes root", "");
    return;
  }
  EXPECT_TRUE(check_touch(options, machine));
  EXPECT_EQ(touch_needs(options, machine).made_swap_bytes, 128 * kMebibyte);
  options.swap_bytes = 40 * kMebibyte;
  expect_refused(options, machine, "half of it must stay free", "at least 64 MiB");
  options.swap_bytes = 4 * kGibibyte;
  expect_refused(options, machine, "more than half of what", "");
}

TEST(TouchLimits, LeaveRoomForWhicheverDeviceIsMade) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  TouchOptions options = limited();
  for (const char* device : {"null_blk", "auto"}) {
    options.swap_device = device;
    options.swap_bytes = 0;
    EXPECT_TRUE(check_touch(options, usual())) << device;
    EXPECT_EQ(touch_needs(options, usual()).made_swap_bytes, 128 * kMebibyte);
    options.swap_bytes = 4 * kGibibyte;
    expect_refused(options, usual(), "more than half of what", "");
  }
}

TEST(TouchLimits, RefuseToSwapAMachinesMemoryToItself) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  TouchOptions options = whole();
  options.swap_device = "null_blk";
  expect_refused(options, usual(), "frees none", "--swap-device zram");
}

TEST(TouchLimits, KeepToMachinesOfOnesOwn) {
  TouchMachine machine = usual();
  machine.container = "/.dockerenv";
  expect_refused(whole(), machine, "this is a container (/.dockerenv)", "virtual machine");
  machine = usual();
  machine.limited_bytes = kGibibyte;
  expect_refused(whole(), machine, "in a memory cgroup of 1 GiB", "outside of that cgroup");
  machine = usual();
  machine.management.available_bytes = 300 * kMebibyte;
  expect_refused(whole(), machine, "300 MiB would be available, and 320 MiB must be left", "--eat-to 321M");
}

TEST(TouchLimits, LeaveWhatIsToBeLeft) {
  TouchOptions options = whole();
  options.eat_to_bytes = kGibibyte;
  EXPECT_TRUE(check_touch(options, usual()));
  const TouchNeeds needs = touch_needs(options, usual());
  EXPECT_EQ(needs.eaten_bytes, 5 * kGibibyte);
  EXPECT_EQ(needs.touched_bytes, 1152 * kMebibyte);
  options.eat_to_bytes = 100 * kMebibyte;
  expect_refused(options, usual(), "--eat-to: 100 MiB would be available", "");
  options.eat_to_bytes = 7 * kGibibyte;
  expect_refused(options, usual(), "more than the 6 GiB that are available", "");
}

TEST(TouchLimits, SeeThatOthersSwap) {
  const FakeRoot root;
  root.write("/proc/vmstat", "pswpin 10\npswpout 20\n");
  EXPECT_TRUE(check_nobody_swaps(0, root.path()));
}

TEST(TouchLimits, SeeAContainer) {
  const FakeRoot root;
  root.write("/run/.containerenv", "");
  EXPECT_EQ(read_touch_machine(root.path()).container, "/run/.containerenv");
  EXPECT_EQ(read_touch_machine(FakeRoot().path()).container, "");
}

}  // namespace
}  // namespace nvmemu::pmbench
