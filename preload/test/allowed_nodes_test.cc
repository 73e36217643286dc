// SPDX-License-Identifier: Apache-2.0
#include "allowed_nodes.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <string>

namespace nvmemu::preload {
namespace {

constexpr std::uint64_t kNodes = std::uint64_t{1} << 40 | 0b111;

std::string allow(std::string_view status, std::uint64_t nodes, std::size_t capacity = 4096) {
  std::array<char, 4096> out{};
  return {out.data(), allow_in_status(status, nodes, out.data(), capacity)};
}

TEST(AllowedNodes, AreAddedToAStatus) {
  EXPECT_EQ(
      allow("Name:\tx\nMems_allowed:\t00000000,00000000,00000001\nMems_allowed_list:\t0\nlast:\t1\n", kNodes),
      "Name:\tx\nMems_allowed:\t00000000,00000100,00000007\nMems_allowed_list:\t0-2,40\nlast:\t1\n");
}

TEST(AllowedNodes, KernelsOfFewNodesHaveShortMasks) {
  EXPECT_EQ(allow("\nMems_allowed:\t1\n", 0b11), "\nMems_allowed:\t00000000,00000003\n");
}

TEST(AllowedNodes, AStatusWithoutThemStaysAsItIs) {
  for (const char* status : {"", "Name:\tx\n", "\nMems_allowed:", "Mems_allowed:\t1\n"})
    EXPECT_EQ(allow(status, 0b11), status);
}

TEST(AllowedNodes, WhatIsCutOffIsNothing) {
  EXPECT_EQ(allow("\nMems_allowed:\t1", 0b11), "\nMems_allowed:\t00000000,00000003");
  EXPECT_EQ(allow("\nMems_allowed:\t1\n", 0b11, 20), "");
}

TEST(AllowedNodes, ListsAreOfAllNodes) {
  std::array<char, 64> out{};
  EXPECT_EQ(std::string(out.data(), allow_in_list(kNodes, out.data(), out.size())), "0-2,40\n");
  EXPECT_EQ(allow_in_list(kNodes, out.data(), 3), 0U);
}

TEST(AllowedNodes, OnlyItsOwnFilesTell) {
  for (const std::string& path : {std::string("/proc/self/status"), std::string("/proc/thread-self/status"),
                                  "/proc/" + std::to_string(getpid()) + "/status",
                                  std::string("/sys/fs/cgroup/a/cpuset.mems.effective"),
                                  std::string("/sys/fs/cgroup/cpuset//cpuset.mems")})
    EXPECT_TRUE(tells_allowed_nodes(path)) << path;
  for (const char* path : {"/proc/1/status", "/proc/self/stat", "/proc//status", "/proc/status", "status", "",
                           "/tmp/cpuset.mems", "/sys/fs/cgroup/a/cpuset.cpus", "/proc/1x/status"})
    EXPECT_FALSE(tells_allowed_nodes(path)) << path;
}

}  // namespace
}  // namespace nvmemu::preload
