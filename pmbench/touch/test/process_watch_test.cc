// SPDX-License-Identifier: Apache-2.0
#include "touch/process_watch.h"

#include <gtest/gtest.h>

namespace nvmemu::pmbench {
namespace {

TEST(ProcessWatch, FindsFreeSwap) {
  EXPECT_EQ(swap_free_bytes_of("MemTotal:  100 kB\nSwapTotal: 9 kB\nSwapFree:         7 kB\nDirty: 3 kB\n"),
            7 << 10);
  EXPECT_EQ(swap_free_bytes_of("MemTotal:  100 kB\n"), 0);
  EXPECT_EQ(swap_free_bytes_of("SwapFree:"), 0);
}

TEST(ProcessWatch, SeesThisProcess) {
  Result<ProcessWatch> watch = ProcessWatch::open();
  ASSERT_TRUE(watch) << watch.error().message;
  EXPECT_GT(watch->sample().rss_bytes, 100 << 10);
}

}  // namespace
}  // namespace nvmemu::pmbench
