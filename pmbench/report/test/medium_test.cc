// SPDX-License-Identifier: Apache-2.0
#include "report/medium.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/test/temporary_folder.h"
#include "host/test/needs.h"

namespace nvmemu::pmbench {
namespace {

using testing::HasSubstr;

TEST(MeasureMedium, ReadsAFileDirectly) {
  const TemporaryFolder folder;
  const std::string path = folder.write("medium", std::string(2 << 20, 'x'));
  const int direct = open(path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
  NVMEMU_NEEDS(direct >= 0, "a folder for temporary files that takes direct reads");
  close(direct);
  const Result<MediumLatency> latency = measure_medium(path, 5, 50);
  ASSERT_TRUE(latency) << latency.error().message;
  EXPECT_EQ(latency->reads, 50);
  EXPECT_GT(latency->mean_ns, 100);
  EXPECT_LT(latency->mean_ns, 1e9);
  EXPECT_GT(latency->median_ns, 100);
}

TEST(MeasureMedium, DoesNotWaitForAPipe) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo(folder.file("pipe").c_str(), 0600), 0);
  const Result<MediumLatency> latency = measure_medium(folder.file("pipe"));
  ASSERT_FALSE(latency);
  EXPECT_THAT(latency.error().message, HasSubstr("cannot measure " + folder.file("pipe")));
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
