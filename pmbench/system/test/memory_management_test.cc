// SPDX-License-Identifier: Apache-2.0
#include "system/memory_management.h"

#include <gtest/gtest.h>

#include "fake_root.h"

namespace nvmemu::pmbench {
namespace {

TEST(MemoryManagement, IsWhatTheVersionHas) {
  const FakeRoot root;
  const MemoryManagement old = read_memory_management("5.10.0-28-amd64", root.path());
  EXPECT_EQ(old.area_tree, "red-black tree");
  EXPECT_EQ(old.area_locks, "mmap_lock");
  EXPECT_EQ(old.lru, "classic");
  EXPECT_EQ(old.huge_pages, "none");
  EXPECT_EQ(read_memory_management("6.1.0", root.path()).area_tree, "maple tree");
  EXPECT_EQ(read_memory_management("6.1.0", root.path()).area_locks, "mmap_lock");
  EXPECT_EQ(read_memory_management("6.18.1", root.path()).area_locks, "a lock of each area");
}

TEST(MemoryManagement, TellsWhetherTheMultiGenerationalLruIsOn) {
  const FakeRoot root;
  constexpr const char* kFile = "/sys/kernel/mm/lru_gen/enabled";
  root.write(kFile, "0x0000\n");
  EXPECT_EQ(read_memory_management("6.1.0", root.path()).lru, "classic, the multi-generational one is off");
  root.write(kFile, "0x0007\n");
  EXPECT_EQ(read_memory_management("6.1.0", root.path()).lru, "multi-generational");
}

TEST(MemoryManagement, TellsWhatThereIs) {
  const FakeRoot root;
  root.write("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  root.write("/proc/sys/vm/max_map_count", "65530\n");
  root.write("/proc/meminfo",
             "MemTotal: 2048 kB\nMemAvailable: 1024 kB\nSwapTotal: 512 kB\nSwapFree: 256 kB\n");
  const MemoryManagement found = read_memory_management("6.1.0", root.path());
  EXPECT_EQ(found.huge_pages, "madvise");
  EXPECT_EQ(found.max_map_count, 65530);
  EXPECT_EQ(found.memory_bytes, 2 << 20);
  EXPECT_EQ(found.swap_free_bytes, 256 << 10);
}

}  // namespace
}  // namespace nvmemu::pmbench
