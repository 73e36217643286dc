// SPDX-License-Identifier: Apache-2.0
#include "report/medium.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test/temporary_folder.h"

namespace nvmemu::pmbench {
namespace {

using testing::HasSubstr;

TEST(MeasureMedium, ReadsAFileDirectly) {
  const TemporaryFolder folder;
  const std::string path = folder.write("medium", std::string(2 << 20, 'x'));
  const Result<MediumLatency> latency = measure_medium(path, 5, 50);
  if (!latency && latency.error().message.find("Invalid argument") != std::string::npos) {
    GTEST_SKIP() << "no direct reads here: " << latency.error().message;
  }
  ASSERT_TRUE(latency) << latency.error().message;
  EXPECT_EQ(latency->reads, 50);
  EXPECT_GT(latency->mean_ns, 100);
  EXPECT_LT(latency->mean_ns, 1e9);
  EXPECT_GT(latency->median_ns, 100);
}

TEST(MeasureMedium, NamesWhatItCannotMeasure) {
  const TemporaryFolder folder;
  EXPECT_EQ(measure_medium("/nowhere").error().message, "cannot measure /nowhere: No such file or directory");
  EXPECT_FALSE(measure_medium(folder.path()));
  EXPECT_FALSE(measure_medium("/dev/null"));
  const Result<MediumLatency> small = measure_medium(folder.write("small", "x"));
  ASSERT_FALSE(small);
  EXPECT_THAT(small.error().message,
              testing::AnyOf(HasSubstr("less than 1 MiB"), HasSubstr("Invalid argument")));
}

}  // namespace
}  // namespace nvmemu::pmbench
