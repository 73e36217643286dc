// SPDX-License-Identifier: Apache-2.0
#include "numa_maps_line.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace nvmemu::preload {
namespace {

constexpr const char* kLine = "7f0000001000 bind:0-1 anon=5 dirty=5 active=0 N0=4 N1=1 kernelpagesize_kB=4";

// With all pages on node 62, and `nodes` in the policy.
std::string written(const char* text, NodeMask nodes, std::size_t capacity = 512) {
  const auto line = parse_numa_maps_line(text);
  if (!line) return "nothing";
  NodePages pages;
  pages[62] = line->pages.total();
  std::array<char, 512> room{};
  TextRoom out(room.data(), capacity);
  write_numa_maps_line(*line, pages, nodes, out);
  return std::string(out.text());
}

TEST(NumaMapsLine, IsRead) {
  const auto line = parse_numa_maps_line(kLine);
  ASSERT_TRUE(line);
  EXPECT_EQ(line->address, 0x7f0000001000U);
  EXPECT_EQ(line->policy_nodes, "0-1");
  EXPECT_EQ(line->counts, "N0=4 N1=1");
  EXPECT_EQ(line->pages.pages[0], 4U);
  EXPECT_EQ(line->pages.total(), 5U);
  EXPECT_EQ(line->page_bytes, 4096U);
  EXPECT_EQ(line->pages.only_node(), -1);
}

TEST(NumaMapsLine, HugePagesAreCountedAsSuch) {
  const auto line =
      parse_numa_maps_line("7f0000000000 default huge anon=2 dirty=2 N3=2 kernelpagesize_kB=2048");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->page_bytes, std::size_t{2} << 20);
  EXPECT_EQ(line->pages.only_node(), 3);
}

TEST(NumaMapsLine, NamesOfFilesAreNoCounts) {
  const auto line =
      parse_numa_maps_line("55b8 default file=/a:N1=7\\040N2=9 mapped=2 N0=2 kernelpagesize_kB=4");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->policy_nodes, "");
  EXPECT_EQ(line->counts, "N0=2");
  EXPECT_EQ(line->pages.total(), 2U);
}

TEST(NumaMapsLine, PoliciesMayHaveBlanksAndFlags) {
  const auto nodes = [](const char* text) { return parse_numa_maps_line(text)->policy_nodes; };
  EXPECT_EQ(nodes("1000 prefer (many):0,2 anon=1 N0=1"), "0,2");
  EXPECT_EQ(nodes("1000 weighted interleave:0-3"), "0-3");
  EXPECT_EQ(nodes("1000 interleave=static:1 N0=1"), "1");
  EXPECT_EQ(nodes("1000 default"), "");
  EXPECT_EQ(nodes("1000 local file=/a:0 N0=1"), "");
}

TEST(NumaMapsLine, IsWrittenWithOtherNodes) {
  EXPECT_EQ(written(kLine, NodeMask{1} << 62),
            "7f0000001000 bind:62 anon=5 dirty=5 active=0 N62=5 kernelpagesize_kB=4");
  EXPECT_EQ(written(kLine, 0), "7f0000001000 bind:0-1 anon=5 dirty=5 active=0 N62=5 kernelpagesize_kB=4");
  EXPECT_EQ(written("1000 default", 1), "1000 default");
  EXPECT_EQ(written("1000 prefer:0", 0b110), "1000 prefer:1-2");
  EXPECT_EQ(written(kLine, 0, 20), "");
}

TEST(NumaMapsLine, WhatIsNoneIsNothing) {
  for (const char* text : {"", "x default", "1000", "1000 default N64=1",
                           "1000 default N0=", "1000 default N0=1 kernelpagesize_kB=0"})
    EXPECT_FALSE(parse_numa_maps_line(text)) << text;
}

}  // namespace
}  // namespace nvmemu::preload
