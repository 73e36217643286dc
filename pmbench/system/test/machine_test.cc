// SPDX-License-Identifier: Apache-2.0
#include "system/machine.h"

#include <gtest/gtest.h>

#include "fake_root.h"

namespace nvmemu::pmbench {
namespace {

TEST(Machine, HasItsCachesFromSysfs) {
  const FakeRoot root;
  const std::string cache = "/sys/devices/system/cpu/cpu0/cache/index0/";
  for (const auto& [file, text] : {std::pair{"level", "1\n"},
                                   {"type", "Data\n"},
                                   {"size", "48K\n"},
                                   {"number_of_sets", "64\n"},
                                   {"coherency_line_size", "64\n"},
                                   {"physical_line_partition", "1\n"},
                                   {"ways_of_associativity", "12\n"}}) {
    root.write(cache + file, text);
  }
  root.write("/proc/cpuinfo", "processor : 0\nmodel name : Some Processor\n");
  const MachineInfo machine = read_machine(2'600'000.4, root.path());
  EXPECT_EQ(machine.cpu_model, "Some Processor");
  EXPECT_EQ(machine.tsc_khz, 2'600'000);
  ASSERT_EQ(machine.caches.size(), 1);
  const Cache& first = machine.caches[0];
  EXPECT_EQ(first.type, "DCACHE");
  EXPECT_EQ(first.capacity_bytes, 48 << 10);
  EXPECT_EQ(first.sets * first.line_bytes * first.ways * first.partitions, first.capacity_bytes);
}

// The original counts down from the zeros that AMD's leaf 2 is, for hours.
TEST(Machine, AsksTheProcessorForABoundedNumberOfCaches) {
  EXPECT_LE(caches_by_cpuid().size(), 16);
  for (const Cache& cache : caches_by_cpuid()) EXPECT_GT(cache.capacity_bytes, 0);
}

}  // namespace
}  // namespace nvmemu::pmbench
