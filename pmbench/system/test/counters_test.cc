// SPDX-License-Identifier: Apache-2.0
#include "system/counters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "fake_root.h"

namespace nvmemu::pmbench {
namespace {

std::optional<double> value_of(const std::vector<std::pair<std::string, double>>& counters,
                               const char* name) {
  const auto found =
      std::find_if(counters.begin(), counters.end(), [&](const auto& one) { return one.first == name; });
  if (found == counters.end()) return std::nullopt;
  return found->second;
}

TEST(Snapshot, IsReadByKey) {
  const FakeRoot root;
  root.write("/proc/meminfo",
             "MemTotal: 100 kB\nMemAvailable: 90 kB\nMemFree: 50 kB\nBuffers: 1 kB\nSwapCached: 77 "
             "kB\nCached: 20 kB\n"
             "Inactive: 5 kB\nActive: 4 kB\nActive(anon): 66 kB\n");
  root.write("/proc/vmstat",
             std::string(5000, '\n') + "pgpgin 1\npgpgout 2\npswpin 3\npswpout 4\npgmajfault 5\n");
  const MemorySnapshot snapshot = take_snapshot("pre-run", root.path());
  EXPECT_EQ(snapshot.name, "pre-run");
  EXPECT_EQ(snapshot.free_kib, 50);
  EXPECT_EQ(snapshot.buffer_kib, 1);
  EXPECT_EQ(snapshot.cache_kib, 20);
  EXPECT_EQ(snapshot.active_kib, 4);
  EXPECT_EQ(snapshot.inactive_kib, 5);
  EXPECT_EQ(snapshot.pgpgin, 1);
  EXPECT_EQ(snapshot.pgpgout, 2);
  EXPECT_EQ(snapshot.pswpin, 3);
  EXPECT_EQ(snapshot.pswpout, 4);
  EXPECT_EQ(snapshot.pgmajfault, 5);
}

TEST(Counters, AreDifferencesWhereTheyCountAndStandWhereTheyStand) {
  const FakeRoot root;
  const std::string group = root.path() + "/group";
  root.write("/proc/vmstat", "pswpin 100\nnr_free_pages 5\nnuma_hint_faults 7\n");
  root.write(
      "/proc/pressure/memory",
      "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=10\n");
  root.write("/sys/devices/system/node/node0/numastat", "numa_hit 10\nnuma_miss 1\n");
  root.write("/sys/devices/system/node/node1/numastat", "numa_hit 20\nnuma_miss 2\n");
  root.write("/group/memory.current", "4096\n");
  root.write("/group/memory.stat", "anon 5\npgmajfault 8\n");
  Counters counters(group, root.path());
  root.write("/proc/vmstat", "numa_hint_faults 9\npswpin 150\nnr_free_pages 6\n");
  root.write("/proc/pressure/memory", "some avg10=0.00 total=1500\nfull avg10=0.00 total=12\n");
  root.write("/sys/devices/system/node/node1/numastat", "numa_hit 25\nnuma_miss 2\n");
  root.write("/group/memory.current", "8192\n");
  root.write("/group/memory.stat", "anon 5\npgmajfault 11\n");
  const auto read = counters.read();
  EXPECT_EQ(value_of(read, "vmstat.pswpin"), 50);
  EXPECT_EQ(value_of(read, "vmstat.numa_hint_faults"), 2);
  EXPECT_EQ(value_of(read, "psi.memory.some_us"), 500);
  EXPECT_EQ(value_of(read, "psi.memory.full_us"), 2);
  EXPECT_EQ(value_of(read, "numa.node0.numa_hit"), 0);
  EXPECT_EQ(value_of(read, "numa.node1.numa_hit"), 5);
  EXPECT_EQ(value_of(read, "cgroup.memory.current"), 8192);
  EXPECT_EQ(value_of(read, "cgroup.pgmajfault"), 3);
  EXPECT_FALSE(value_of(read, "vmstat.nr_free_pages"));
  EXPECT_EQ(value_of(counters.read(), "vmstat.pswpin"), 0);
}

}  // namespace
}  // namespace nvmemu::pmbench
