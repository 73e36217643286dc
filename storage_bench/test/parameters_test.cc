// SPDX-License-Identifier: Apache-2.0
#include "storage_bench/parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "storage_bench/flow.h"

namespace nvmemu::storage_bench {
namespace {

using testing::HasSubstr;

Parameters usual() { return find_flow("varmail")->small; }

void expect_refused(const Parameters& parameters, const char* message, const char* hint) {
  const Result<void> checked = check(parameters);
  ASSERT_FALSE(checked) << message;
  EXPECT_THAT(checked.error().message, HasSubstr(message));
  EXPECT_THAT(checked.error().hint, HasSubstr(hint));
}

TEST(Parameters, AreRefusedWhereThreadsHaveTooFewFiles) {
  Parameters parameters = usual();
  parameters.threads = 4;
  parameters.files = 20;
  EXPECT_TRUE(check(parameters));
  parameters.files = 19;
  expect_refused(parameters, "--files: 19 are too few for 4 threads", "--files 20 or more, or --threads 3");
}

TEST(Parameters, AreRefusedWhereNothingCouldRun) {
  Parameters parameters = usual();
  parameters.threads = 0;
  expect_refused(parameters, "--threads: 0", "from 1 to");
  parameters = usual();
  parameters.threads = 5000;
  expect_refused(parameters, "--threads: 5000", "from 1 to");
  parameters = usual();
  for (const double seconds : {0.0, -1.0, 1e9, std::nan("")}) {
    parameters.seconds = seconds;
    expect_refused(parameters, "--seconds: ", "above 0");
  }
}

TEST(Parameters, AreRefusedWhereTheyAreAbsurd) {
  Parameters parameters = usual();
  parameters.files_in_folder = 1;
  expect_refused(parameters, "--files-in-folder: 1", "2 or more");
  parameters = usual();
  parameters.files = 1'000'000'000;
  expect_refused(parameters, "--files: 1000000000 are too many", "at most");
  parameters = usual();
  parameters.mean_file_bytes = std::uint64_t{1} << 50;
  expect_refused(parameters, "--mean-size: ", "at most 1 TiB");
  parameters = usual();
  parameters.io_bytes = std::uint64_t{1} << 40;
  expect_refused(parameters, "--io-size: ", "at most 1 GiB");
}

TEST(Parameters, AreRefusedWhereMemoryIsShort) {
  Parameters parameters = usual();
  parameters.threads = 100;
  parameters.io_bytes = std::uint64_t{1} << 30;
  EXPECT_TRUE(check_memory(parameters, std::uint64_t{101} << 30));
  const auto checked = check_memory(parameters, std::uint64_t{99} << 30);
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message, HasSubstr("100 threads need 107 GB of memory"));
  EXPECT_THAT(checked.error().hint, HasSubstr("fewer --threads"));
}

}  // namespace
}  // namespace nvmemu::storage_bench
