// SPDX-License-Identifier: Apache-2.0
#include "system/zram_removal.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "fake_root.h"
#include "system/kernel_files.h"

namespace nvmemu::pmbench {
namespace {

constexpr const char* kReset = "/sys/block/zram7/reset";
constexpr const char* kHotRemove = "/sys/class/zram-control/hot_remove";

TEST(ZramRemoval, ResetsTheDeviceAndGivesItBack) {
  FakeRoot root;
  root.write(kReset, "-");
  root.write(kHotRemove, "-");
  remove_zram("7", root.path());
  EXPECT_EQ(read_text(root.path() + kReset), "1");
  EXPECT_EQ(read_text(root.path() + kHotRemove), "7");
}

TEST(ZramRemoval, DoesNothingOfADeviceThatIsGone) {
  FakeRoot root;
  root.write(kHotRemove, "-");
  remove_zram("7", root.path());
  EXPECT_EQ(read_text(root.path() + kHotRemove), "-");
}

// As the kernel refuses while somebody has it open: here the file is not there at first.
TEST(ZramRemoval, TriesUntilNobodyHasItOpen) {
  FakeRoot root;
  root.write(kReset, "-");
  std::filesystem::create_directories(std::filesystem::path(root.path() + kHotRemove).parent_path());
  std::thread remover([&] { remove_zram("7", root.path()); });
  while (read_text(root.path() + kReset) != "1") std::this_thread::sleep_for(std::chrono::milliseconds(1));
  root.write(kHotRemove, "");
  remover.join();
  EXPECT_EQ(read_text(root.path() + kHotRemove), "7");
}

}  // namespace
}  // namespace nvmemu::pmbench
