// SPDX-License-Identifier: Apache-2.0
#include "areas/faulters.h"

#include <gtest/gtest.h>

namespace nvmemu::pmbench {
namespace {

TEST(Faulters, CountWhatTheyTookUntilTheyAreStopped) {
  Result<Faulters> faulters = Faulters::start(2, choose_timer());
  ASSERT_TRUE(faulters) << faulters.error().message;
  const Faulters::Found found = faulters->stop();
  EXPECT_GT(found.seconds, 0);
  EXPECT_EQ(found.faults.count > 0, found.faults.sum_ns > 0);
}

TEST(Faulters, EndWithTheirOwner) {
  const Result<Faulters> faulters = Faulters::start(1, choose_timer());
  EXPECT_TRUE(faulters);
}

}  // namespace
}  // namespace nvmemu::pmbench
