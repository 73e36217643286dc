// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/learned/learnt.h"

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
    if (learnt->loads.find(ip) == nullptr) return 1;
    learnt->walked.add(1e9, {.share = 0.25, .miss_ns = 150});
    return 0;
  });
  ASSERT_EQ(status, 0);
  EXPECT_NEAR(learnt->walked.mean(100).share, 0.25, 0.01);
  EXPECT_DOUBLE_EQ(learnt->walked.mean(100).miss_ns, 150);
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
