// SPDX-License-Identifier: Apache-2.0
#include "node_counts.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace nvmemu::preload {
namespace {

template <typename Write>
std::string written(const Write& write, std::size_t room = 1024) {
  std::array<char, 1024> out{};
  TextRoom told(out.data(), room);
  write(told);
  return std::string(told.text());
}
std::string memory(std::string_view text, std::uint64_t used) {
  return written([&](TextRoom& out) { write_memory(text, used, out); });
}
std::string statistics(std::string_view text, std::uint64_t pages, std::uint64_t interleaved,
                       std::size_t room = 1024) {
  return written([&](TextRoom& out) { write_statistics(text, pages, interleaved, out); }, room);
}

TEST(NodeCounts, WhatIsUsedIsNotFree) {
  EXPECT_EQ(memory("Node 62 MemTotal:        1048576 kB\n"
                   "Node 62 MemFree:         1048576 kB\n"
                   "Node 62 MemUsed:               0 kB\n"
                   "Node 62 FilePages:             0 kB\n"
                   "Node 62 AnonPages:             0 kB\n"
                   "Node 62 HugePages_Total:      0\n",
                   256),
            "Node 62 MemTotal:        1048576 kB\n"
            "Node 62 MemFree:         1047552 kB\n"
            "Node 62 MemUsed:            1024 kB\n"
            "Node 62 FilePages:             0 kB\n"
            "Node 62 AnonPages:          1024 kB\n"
            "Node 62 HugePages_Total:      0\n");
}

TEST(NodeCounts, MoreThanThereIsLeavesNothingFree) {
  EXPECT_EQ(memory("Node 1 MemFree: 1024 kB\nNode 1 MemUsed: 0 kB\n", 300),
            "Node 1 MemFree:    0 kB\nNode 1 MemUsed: 1200 kB\n");
}

TEST(NodeCounts, StatisticsAreOfWhatOthersHavePutThere) {
  EXPECT_EQ(
      statistics("numa_hit 0\nnuma_miss 0\nnuma_foreign 0\ninterleave_hit 0\nlocal_node 0\nother_node 0",
                 5000, 20),
      "numa_hit 5000\nnuma_miss 0\nnuma_foreign 0\ninterleave_hit 20\nlocal_node 0\nother_node 5000");
}

TEST(NodeCounts, WhatHasNoNumbersStaysAsItIs) {
  for (const char* text : {"", "\n", "MemFree", "MemFree: many\n", "7\n", " 7 \n", "Node 1 MemFree:\n"})
    EXPECT_TRUE(memory(text, 1) == text && statistics(text, 1, 1) == text) << text;
}

TEST(NodeCounts, WhatIsCutOffIsNothing) { EXPECT_EQ(statistics("numa_hit 0\n", 5000, 0, 10), ""); }

}  // namespace
}  // namespace nvmemu::preload
