// SPDX-License-Identifier: Apache-2.0
#include "storage_bench/data_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace nvmemu::storage_bench {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

Parameters parameters_of(std::uint64_t files, std::uint64_t files_in_folder, unsigned threads = 1) {
  Parameters parameters;
  parameters.files = files;
  parameters.mean_file_bytes = 16'384;
  parameters.files_in_folder = files_in_folder;
  parameters.threads = threads;
  return parameters;
}

const Flow& varmail() { return *find_flow("varmail"); }
const Flow& webserver() { return *find_flow("webserver"); }

TEST(DataSet, IsTheSameForTheSameSeed) {
  Parameters parameters = parameters_of(1000, 20);
  const DataSet first(varmail(), parameters);
  const DataSet again(varmail(), parameters);
  parameters.seed = 2;
  const DataSet other(varmail(), parameters);
  EXPECT_EQ(first.bytes_at_start(), again.bytes_at_start());
  EXPECT_NE(first.bytes_at_start(), other.bytes_at_start());
  EXPECT_NE(first.bytes_of(0), other.bytes_of(0));
}

// So that a larger set is a smaller one with more files.
TEST(DataSet, GivesAFileTheSameSizeInSetsOfAnyLength) {
  const DataSet few(varmail(), parameters_of(10, 20));
  const DataSet many(varmail(), parameters_of(1000, 20));
  for (std::uint64_t file = 0; file < 10; ++file) EXPECT_EQ(few.bytes_of(file), many.bytes_of(file));
}

// Gamma of shape 1.5: standard deviation = mean / sqrt(1.5), median 0.7887 of the mean.
TEST(DataSet, HasSizesOfAGammaDistribution) {
  const std::uint64_t files = 100'000;
  const DataSet set(varmail(), parameters_of(files, 1'000'000));
  double sum = 0;
  double squares = 0;
  std::uint64_t below_median = 0;
  for (std::uint64_t file = 0; file < files; ++file) {
    const double relative = static_cast<double>(set.bytes_of(file)) / 16'384;
    EXPECT_GE(set.bytes_of(file), 1U);
    sum += relative;
    squares += (relative - 1) * (relative - 1);
    below_median += relative < 0.7887 ? 1 : 0;
  }
  EXPECT_NEAR(sum / files, 1, 0.01);
  EXPECT_NEAR(squares / files, 1 / 1.5, 0.02);
  EXPECT_NEAR(static_cast<double>(below_median) / files, 0.5, 0.01);
}

TEST(DataSet, PutsNoMoreIntoAFolderThanItHolds) {
  const DataSet set(varmail(), parameters_of(1000, 7));
  std::map<std::string, std::set<std::string>> inside;
  for (std::uint64_t file = 0; file < set.files(); ++file) {
    std::string path = "/" + set.path(file);
    for (std::size_t slash = path.rfind('/'); slash != std::string::npos; slash = path.rfind('/')) {
      const std::string name = path.substr(slash + 1);
      path.resize(slash);
      inside[path].insert(name);
    }
  }
  for (const auto& [folder, entries] : inside) EXPECT_LE(entries.size(), 7U) << folder;
}

TEST(DataSet, NamesEachFolderOnceAfterTheOneAbove) {
  const DataSet set(varmail(), parameters_of(10, 2));
  EXPECT_THAT(set.folders(), ElementsAre("d00", "d00/d00", "d00/d00/d00", "d00/d00/d01", "d00/d01",
                                         "d00/d01/d00", "d00/d01/d01", "d01", "d01/d00", "d01/d00/d00"));
  EXPECT_EQ(set.path(9), "d01/d00/d00/f0000009");
  std::set<std::string> folders;
  for (const std::string& folder : set.folders()) EXPECT_TRUE(folders.insert(folder).second) << folder;
  for (std::uint64_t file = 0; file < set.files(); ++file) {
    const std::string path = set.path(file);
    EXPECT_TRUE(folders.contains(path.substr(0, path.rfind('/')))) << path;
  }
}

TEST(DataSet, NeedsNoFolderWhereOneHoldsAllFiles) {
  const DataSet set(varmail(), parameters_of(1000, 1000));
  EXPECT_THAT(set.folders(), SizeIs(0));
  EXPECT_EQ(set.path(999), "f0000999");
}

TEST(DataSet, GivesEachThreadFilesOfItsOwnOfWhichFourInFiveExist) {
  const unsigned threads = 50;
  const DataSet set(varmail(), parameters_of(5 * threads + 3, 20, threads));
  std::set<std::uint32_t> all;
  for (unsigned thread = 0; thread < threads; ++thread) {
    std::size_t present = 0;
    for (const std::uint32_t file : set.files_of(thread)) {
      EXPECT_TRUE(all.insert(file).second);
      present += set.exists_at_start(file) ? 1 : 0;
    }
    EXPECT_EQ(present, 4U);
  }
  EXPECT_THAT(all, SizeIs(set.files()));
}

TEST(DataSet, SharesFilesThatNobodyChanges) {
  const DataSet set(webserver(), parameters_of(100, 20, 4));
  EXPECT_THAT(set.files_of(0), SizeIs(100));
  EXPECT_EQ(set.files_of(3), set.files_of(0));
  EXPECT_EQ(set.files_at_start(), 100U);
}

}  // namespace
}  // namespace nvmemu::storage_bench
