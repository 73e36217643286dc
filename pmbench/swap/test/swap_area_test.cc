// SPDX-License-Identifier: Apache-2.0
#include "swap/swap_area.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include "base/test/temporary_folder.h"

namespace nvmemu::pmbench {
namespace {

// As file(1) and the kernel find it.
TEST(SwapArea, HasTheKernelsHeader) {
  const TemporaryFolder folder;
  const std::string device = folder.write("device", std::string(8 * 4096, 'x'));
  const auto written = write_swap_header(device, 8 * 4096);
  ASSERT_TRUE(written) << written.error().message;
  const std::string content = folder.read("device");
  ASSERT_EQ(content.size(), 8U * 4096);
  EXPECT_EQ(content.substr(4096 - 10, 10), "SWAPSPACE2");
  std::uint32_t fields[3];
  std::memcpy(fields, content.data() + 1024, sizeof fields);
  EXPECT_EQ(fields[0], 1U);
  EXPECT_EQ(fields[1], 7U) << "the last page";
  EXPECT_EQ(fields[2], 0U);
  EXPECT_EQ(content[4096], 'x');
}

TEST(SwapArea, SaysWhatCannotBeWritten) {
  const auto written = write_swap_header("/nowhere/device", 4096);
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("cannot write to /nowhere/device: No such file"), std::string::npos);
}

TEST(SwapArea, WhatIsNoBlockDeviceIsNotSwappedTo) {
  const TemporaryFolder folder;
  EXPECT_FALSE(swap_on(folder.file("nothing")));
  EXPECT_FALSE(swap_off(folder.file("nothing")));
}

}  // namespace
}  // namespace nvmemu::pmbench
