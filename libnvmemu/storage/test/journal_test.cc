// SPDX-License-Identifier: Apache-2.0
#include "storage/journal.h"

#include <gtest/gtest.h>

namespace nvmemu {
namespace {

// Who comes by the time that a commit begins has it, and whoever comes later needs another.
TEST(Journal, ACommitHasWhatIsAskedForUntilItBegins) {
  Journal journal;
  EXPECT_EQ(journal.end_ns(), 0U);
  EXPECT_FALSE(journal.is_to_begin(0)) << "nobody has asked for one";
  journal.begin(5000, 6000);
  EXPECT_TRUE(journal.is_to_begin(4000));
  EXPECT_TRUE(journal.is_to_begin(5000));
  EXPECT_FALSE(journal.is_to_begin(5001));
  EXPECT_EQ(journal.end_ns(), 6000U);
}

}  // namespace
}  // namespace nvmemu
