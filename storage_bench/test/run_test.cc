// SPDX-License-Identifier: Apache-2.0
#include "storage_bench/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "base/test/temporary_folder.h"
#include "storage_bench/crew.h"

namespace nvmemu::storage_bench {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::SizeIs;

constexpr std::uint64_t kRounds = 5;
constexpr unsigned kThreads = 3;

bool never() { return false; }

Parameters few(const Flow& flow) {
  Parameters parameters = flow.small;
  parameters.files = 50;
  parameters.mean_file_bytes = 3000;
  parameters.io_bytes = 1000;  // several calls a file
  parameters.append_bytes = 500;
  parameters.threads = kThreads;
  parameters.rounds = kRounds;
  return parameters;
}

Result<FlowResult> run_in(const TemporaryFolder& folder, const Flow& flow, const Parameters& parameters) {
  return run_flow(flow, parameters, DataSet(flow, parameters), folder.path(), never);
}

std::map<std::string, std::uint64_t> sizes_in(const TemporaryFolder& folder) {
  std::map<std::string, std::uint64_t> sizes;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
    const std::string name = std::filesystem::relative(entry.path(), folder.path());
    if (entry.is_regular_file()) sizes[name] = entry.file_size();
  }
  return sizes;
}

class EveryFlow : public testing::TestWithParam<const char*> {
 protected:
  const Flow& flow_ = *find_flow(GetParam());
  TemporaryFolder folder_;
};

TEST_P(EveryFlow, MakesItsOperationsInEachRoundOfEachThread) {
  const auto result = run_in(folder_, flow_, few(flow_));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_FALSE(result->interrupted);
  ASSERT_EQ(result->operations.size(), flow_.operations.size());
  std::uint64_t made = 0;
  for (std::size_t i = 0; i < flow_.operations.size(); ++i) {
    const bool is_call = flow_.operations[i].action != Action::kLimit;
    EXPECT_EQ(result->operations[i].latencies.count, is_call ? kRounds * kThreads : 0)
        << flow_.operations[i].name;
    made += is_call ? 1 : 0;
  }
  EXPECT_THAT(result->operations_of_threads, AllOf(SizeIs(kThreads), Each(kRounds * made)));
  EXPECT_EQ(result->count(), kRounds * kThreads * made);
  EXPECT_GT(result->seconds, 0);
}

TEST_P(EveryFlow, KeepsAsManyFilesAsItHad) {
  const auto result = run_in(folder_, flow_, few(flow_));
  ASSERT_TRUE(result) << result.error().message;
  const std::size_t logs = flow_.has(Action::kLog) ? 1 : 0;
  EXPECT_THAT(sizes_in(folder_), SizeIs(result->files_at_start + logs));
}

TEST_P(EveryFlow, DoesTheSameForTheSameSeed) {
  const TemporaryFolder again;
  const auto first = run_in(folder_, flow_, few(flow_));
  const auto second = run_in(again, flow_, few(flow_));
  ASSERT_TRUE(first && second);
  for (std::size_t i = 0; i < flow_.operations.size(); ++i) {
    EXPECT_EQ(first->operations[i].bytes, second->operations[i].bytes) << flow_.operations[i].name;
  }
  auto sizes = sizes_in(folder_);
  auto others = sizes_in(again);
  sizes.erase(DataSet::kLog);  // who appends at the same time may write to the same place
  others.erase(DataSet::kLog);
  EXPECT_EQ(sizes, others);
}

TEST_P(EveryFlow, DoesSomethingElseForAnotherSeed) {
  const TemporaryFolder other;
  Parameters parameters = few(flow_);
  const auto first = run_in(folder_, flow_, parameters);
  parameters.seed = 2;
  const auto second = run_in(other, flow_, parameters);
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->read_bytes(), second->read_bytes());
}

INSTANTIATE_TEST_SUITE_P(Run, EveryFlow, testing::Values("fileserver", "webserver", "webproxy", "varmail"),
                         [](const auto& test) { return std::string(test.param); });

TEST(Run, CountsWhatIsReadAndWritten) {
  const Flow& webserver = *find_flow("webserver");
  const TemporaryFolder folder;
  Parameters parameters = few(webserver);
  parameters.threads = 1;
  const auto result = run_in(folder, webserver, parameters);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->written_bytes(), sizes_in(folder).at(DataSet::kLog));
  EXPECT_EQ(result->of(Action::kRead).latencies.count, 10 * kRounds);
  EXPECT_EQ(result->read_bytes(), result->of(Action::kRead).bytes);
  EXPECT_GT(result->read_bytes(), 0U);
}

TEST(Run, WritesWholeFilesAsLongAsTheSetSays) {
  const Flow& fileserver = *find_flow("fileserver");
  const TemporaryFolder folder;
  const Parameters parameters = few(fileserver);
  const DataSet set(fileserver, parameters);
  ASSERT_TRUE(*make_files(set, fileserver, folder.path(), never));
  const auto sizes = sizes_in(folder);
  for (std::uint64_t file = 0; file < set.files(); ++file) {
    EXPECT_EQ(sizes.contains(set.path(file)), set.exists_at_start(file)) << file;
    if (set.exists_at_start(file)) {
      EXPECT_EQ(sizes.at(set.path(file)), set.bytes_of(file));
    }
  }
}

TEST(Run, EndsBeforeItMeasuresWhereItIsStopped) {
  const Flow& varmail = *find_flow("varmail");
  const TemporaryFolder folder;
  const Parameters parameters = few(varmail);
  const auto result =
      run_flow(varmail, parameters, DataSet(varmail, parameters), folder.path(), [] { return true; });
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->interrupted);
  EXPECT_EQ(result->count(), 0U);
}

// Ended by the time that is asked for: some rounds, each whole or not.
TEST(Run, EndsAtItsTime) {
  const Flow& varmail = *find_flow("varmail");
  const TemporaryFolder folder;
  Parameters parameters = few(varmail);
  parameters.rounds = 0;
  parameters.seconds = 0.02;
  const auto result = run_in(folder, varmail, parameters);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_FALSE(result->interrupted);
  EXPECT_GE(result->seconds, 0.0);
}

TEST(Run, FailsWhereAFileIsInTheWay) {
  const Flow& varmail = *find_flow("varmail");
  const TemporaryFolder folder;
  const Parameters parameters = few(varmail);
  const DataSet set(varmail, parameters);
  std::uint64_t first = 0;
  while (!set.exists_at_start(first)) ++first;
  folder.write(set.path(first), "a user's");
  const auto result = run_in(folder, varmail, parameters);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, AllOf(HasSubstr("cannot make "), HasSubstr(set.path(first))));
  EXPECT_EQ(folder.read(set.path(first)), "a user's");
}

TEST(Crew, EndsAllThreadsWhereOneFails) {
  const Flow& varmail = *find_flow("varmail");
  const TemporaryFolder folder;  // without files
  Parameters parameters = few(varmail);
  parameters.rounds = 0;
  parameters.seconds = 3600;
  const DataSet set(varmail, parameters);
  Crew crew(varmail, parameters, set, folder.path());
  const Result<bool> worked = crew.work(never);
  ASSERT_FALSE(worked);
  EXPECT_THAT(worked.error().message, AllOf(HasSubstr("cannot delete "), HasSubstr("No such file")));
}

TEST(Crew, EndsAllThreadsWhereItIsStopped) {
  const Flow& varmail = *find_flow("varmail");
  const TemporaryFolder folder;
  Parameters parameters = few(varmail);
  parameters.rounds = 0;
  parameters.seconds = 3600;
  const DataSet set(varmail, parameters);
  ASSERT_TRUE(*make_files(set, varmail, folder.path(), never));
  Crew crew(varmail, parameters, set, folder.path());
  const Result<bool> worked = crew.work([] { return true; });
  ASSERT_TRUE(worked) << worked.error().message;
  EXPECT_FALSE(*worked);
}

}  // namespace
}  // namespace nvmemu::storage_bench
