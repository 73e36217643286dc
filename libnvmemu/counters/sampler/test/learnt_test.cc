// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/learnt.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "counters/sampler/learned/table_slot.h"

namespace nvmemu {
namespace {

// What a child of fork returns from `work`, which must not allocate; -1 where it could not be run.
template <typename Work>
int exit_status_of_child(Work work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

TEST(Learnt, IsSharedWithForkedChildren) {
  Learnt* learnt = Learnt::create();
  ASSERT_NE(learnt, nullptr);
  const auto ip = reinterpret_cast<std::uintptr_t>(&exit_status_of_child<int (*)()>) + 16;
  const int status = exit_status_of_child([&] {
    LoadEntry* load = learnt->loads.find(ip);
    if (load == nullptr) return 1;
    const ProbeSums sums{.readings = 6, .from_memory = 3, .memory_ns = 600, .total_ns = 800};
    learnt->learn({.load = load, .kind = BurstKind::kShare, .sums = sums});
    learnt->learn({.load = load, .kind = BurstKind::kNatural, .sums = sums, .since_gap_ms = 100});
    return 0;
  });
  ASSERT_EQ(status, 0);
  EXPECT_EQ(learnt->pool().bursts, 1);
  EXPECT_EQ(learnt->pool().share_sum, 0.75);
  EXPECT_EQ(learnt->gaps.steady_misses(), 3);
  const LoadEntry* load = learnt->loads.find(ip);
  ASSERT_NE(load, nullptr);
  EXPECT_EQ(load->sums().readings, 6);
}

TEST(TableSlot, IsAbandonedWhenItIsBusyForLong) {
  EXPECT_FALSE(is_busy(0));
  EXPECT_FALSE(is_abandoned(0));
  const auto address = reinterpret_cast<std::uintptr_t>(&exit_status_of_child<int (*)()>);
  EXPECT_FALSE(is_busy(address));
  EXPECT_FALSE(is_abandoned(address));
  EXPECT_TRUE(is_busy(busy_mark()));
  EXPECT_FALSE(is_abandoned(busy_mark()));
  EXPECT_TRUE(is_busy(busy_mark(0)));
  if (seconds_now() >= kAbandonedAfterS) {
    EXPECT_TRUE(is_abandoned(busy_mark(seconds_now() - kAbandonedAfterS)));
  }
}

}  // namespace
}  // namespace nvmemu
