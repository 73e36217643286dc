// SPDX-License-Identifier: Apache-2.0
#include "storage/journal.h"

#include <gtest/gtest.h>

namespace nvmemu {
namespace {

constexpr double kTakes = 1000;

TEST(Journal, ACommitTakesItsTime) {
  Journal journal;
  EXPECT_EQ(journal.commit(5000, kTakes).done_ns, 6000U);
  EXPECT_EQ(journal.commit(7000, kTakes).done_ns, 8000U);
}

// Who comes while one is under way waits for the next, and whoever comes until that begins for the same.
TEST(Journal, WhoComesMeanwhileSharesTheNext) {
  Journal journal;
  journal.commit(5000, kTakes);
  const Journal::Commit second = journal.commit(5500, kTakes), third = journal.commit(5900, kTakes);
  EXPECT_EQ(second.done_ns, 7000U);
  EXPECT_FALSE(second.is_shared);
  EXPECT_EQ(third.done_ns, 7000U);
  EXPECT_TRUE(third.is_shared);
  EXPECT_EQ(journal.commit(6500, kTakes).done_ns, 8000U);
}

TEST(Journal, ThoseWhoComeAtOnceShareOne) {
  Journal journal;
  EXPECT_EQ(journal.commit(5000, kTakes).done_ns, 6000U);
  EXPECT_EQ(journal.commit(5000, kTakes).done_ns, 6000U);
}

}  // namespace
}  // namespace nvmemu
