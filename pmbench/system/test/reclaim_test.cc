// SPDX-License-Identifier: Apache-2.0
#include "system/reclaim.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "fake_root.h"

namespace nvmemu::pmbench {
namespace {

std::string stat_of(const std::string& name, long user, long system) {
  return "40 (" + name + ") S 2 0 0 0 -1 2129984 0 0 0 0 " + std::to_string(user) + " " +
         std::to_string(system) + " 0 0 20 0 1 0 30\n";
}

class Reclaim : public testing::Test {
 protected:
  void SetUp() override {
    root_.write("/proc/40/comm", "kswapd0\n");
    root_.write("/proc/41/comm", "kswapd1\n");
    root_.write("/proc/42/comm", "bash\n");
    write(0, 0, 0);
  }
  void write(long kswapd, long direct, long ticks) {
    root_.write("/proc/vmstat", "pgsteal_kswapd " + std::to_string(100 + kswapd) + "\npgsteal_direct " +
                                    std::to_string(50 + direct) + "\nnr_free_pages 7\n");
    root_.write("/proc/40/stat", stat_of("kswapd0", 10, 20 + ticks));
    root_.write("/proc/41/stat", stat_of("a) name", 5, 5));
  }
  FakeRoot root_;
};

TEST_F(Reclaim, IsTheDifferenceOfTwoReadings) {
  const ReclaimCounters counters(root_.path());
  const ReclaimUse before = counters.read();
  write(30, 10, 50);
  const ReclaimUse use = difference(before, counters.read());
  EXPECT_EQ(use.counter("pgsteal_kswapd"), 30);
  EXPECT_EQ(use.counter("pgsteal_direct"), 10);
  EXPECT_EQ(use.counter("nr_free_pages"), 0);  // not of reclaim
  EXPECT_EQ(use.kswapd_share(), 0.75);
  ASSERT_EQ(use.kswapd.size(), 2);
  EXPECT_EQ(use.kswapd[0].name, "kswapd0");
  EXPECT_DOUBLE_EQ(use.kswapd_s(), 50.0 / static_cast<double>(sysconf(_SC_CLK_TCK)));
}

TEST_F(Reclaim, IsNoneWhereNothingWasReclaimed) {
  const ReclaimCounters counters(root_.path());
  const ReclaimUse before = counters.read();
  EXPECT_EQ(difference(before, counters.read()).kswapd_share(), 0);
}

}  // namespace
}  // namespace nvmemu::pmbench
