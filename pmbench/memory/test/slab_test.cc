// SPDX-License-Identifier: Apache-2.0
#include "memory/slab.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/test/temporary_folder.h"

namespace nvmemu::pmbench {
namespace {

constexpr const char* kMeminfo = "MemTotal: 1000 kB\nSlab:  300 kB\nPageTables: 20 kB\nKReclaimable: 7 kB\n";

TEST(Slab, IsOfAreasAndTheirTree) {
  const TemporaryFolder root;
  root.write("proc/slabinfo",
             "slabinfo - version: 2.1\n# name <active_objs> <num_objs> <objsize>\n"
             "vm_area_struct  100  120  192   21 1 : tunables 0 0 0\nmaple_node  10  16  256 16 1\n"
             "vm_area_struct_of_others  9  9  9\n");
  root.write("proc/meminfo", kMeminfo);
  const SlabReading reading = read_area_slabs(root.path());
  EXPECT_EQ(reading.source, SlabSource::kSlabinfo);
  EXPECT_EQ(reading.bytes, 100 * 192 + 10 * 256);
}

TEST(Slab, IsOfAllWhereOnlyRootMayReadThat) {
  const TemporaryFolder root;
  root.write("proc/meminfo", kMeminfo);
  const SlabReading reading = read_area_slabs(root.path());
  EXPECT_EQ(reading.source, SlabSource::kMeminfo);
  EXPECT_EQ(reading.bytes, 320 << 10);
}

TEST(Slab, IsUnknownWithoutEither) {
  const TemporaryFolder root;
  EXPECT_EQ(read_area_slabs(root.path()).source, SlabSource::kNone);
}

TEST(Slab, IsReadAgainUntilWhatIsGoneHasGone) {
  std::vector<std::uint64_t> readings = {10 << 20, 30 << 20, 50 << 20};  // the last first
  int waits = 0;
  const auto read = [&] {
    const std::uint64_t bytes = readings.back();
    if (readings.size() > 1) readings.pop_back();
    return SlabReading{SlabSource::kSlabinfo, bytes};
  };
  EXPECT_EQ(settled(read, [&] { ++waits; }).bytes, 10 << 20);
  EXPECT_EQ(waits, 3);
}

TEST(Slab, IsWaitedForNoLongerThanHalfASecondsWaits) {
  std::uint64_t bytes = 100 << 20;
  int waits = 0;
  settled([&] { return SlabReading{SlabSource::kSlabinfo, bytes -= 1 << 20}; }, [&] { ++waits; });
  EXPECT_EQ(waits, 25);
}

}  // namespace
}  // namespace nvmemu::pmbench
