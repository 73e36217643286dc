// SPDX-License-Identifier: Apache-2.0
#include "host/memory_nodes.h"

#include <gtest/gtest.h>

#include "host/test/fake_root.h"

namespace nvmemu {
namespace {

TEST(MemoryNodes, ListsAreReadAsTheKernelWritesThem) {
  EXPECT_EQ(mask_of_list("0\n"), 0b1U);
  EXPECT_EQ(mask_of_list("0-1,3"), 0b1011U);
  EXPECT_EQ(mask_of_list("62-63\n"), std::uint64_t{3} << 62);
  EXPECT_EQ(mask_of_list("63-70,5"), std::uint64_t{1} << 63 | 1U << 5);
  for (const char* none : {"", "3-1", "-", "x", "1-x", "64", "99999999999999999999"})
    EXPECT_EQ(mask_of_list(none), 0U) << none;
}

TEST(MemoryNodes, WhatIsWrittenIsReadAgain) {
  for (const char* list : {"", "0", "0-1", "0,2-4,63", "0-63"})
    EXPECT_EQ(list_of_mask(mask_of_list(list)), list);
}

TEST(MemoryNodes, AreReadBelowARoot) {
  const FakeRoot root;
  EXPECT_EQ(read_memory_nodes(root.path()).online, 1U);  // where the kernel has no nodes, all is node 0
  root.write("/sys/devices/system/node/online", "0-1\n");
  root.write("/proc/meminfo", "MemTotal:        1024 kB\nMemFree: 1 kB\n");
  root.write("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  const MemoryNodes nodes = read_memory_nodes(root.path());
  EXPECT_EQ(nodes.online, 3U);
  EXPECT_EQ(nodes.bytes, 1U << 20);
  EXPECT_EQ(nodes.page_bytes, 4096U);
  root.write("/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n");
  EXPECT_EQ(read_memory_nodes(root.path()).page_bytes, 2U << 20);
}

}  // namespace
}  // namespace nvmemu
