// SPDX-License-Identifier: Apache-2.0
#include "storage_bench/file_pool.h"

#include <gtest/gtest.h>

#include <set>

namespace nvmemu::storage_bench {
namespace {

using pmbench::Rng;

DataSet set_of(std::uint64_t files) {
  Parameters parameters;
  parameters.files = files;
  parameters.mean_file_bytes = 1;
  parameters.files_in_folder = 20;
  parameters.threads = 1;
  return {*find_flow("varmail"), parameters};
}

TEST(FilePool, KnowsWhichFilesExist) {
  const DataSet set = set_of(100);
  FilePool pool(set, 0);
  Rng random(1);
  std::set<std::uint64_t> present;
  for (std::uint64_t file = 0; file < 100; ++file) {
    if (set.exists_at_start(file)) present.insert(file);
  }
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_EQ(pool.present(), present.size());
    EXPECT_EQ(pool.absent(), 100 - present.size());
    EXPECT_TRUE(present.contains(pool.pick(random)));
    if (pool.absent() > 0 && random.below(2) == 0) {
      EXPECT_TRUE(present.insert(pool.add(random)).second);
    }
    if (pool.present() > 1) {
      EXPECT_EQ(present.erase(pool.take(random)), 1U);
    }
  }
}

TEST(FilePool, PicksEachFileSoonerOrLater) {
  const DataSet set = set_of(20);
  const FilePool pool(set, 0);
  Rng random(1);
  std::set<std::uint64_t> picked;
  for (int i = 0; i < 1000; ++i) picked.insert(pool.pick(random));
  EXPECT_EQ(picked.size(), pool.present());
}

// With as few files as a thread may have, in either order.
TEST(FilePool, NeverLacksAFileWhereAsManyAreDeletedAsCreated) {
  const DataSet set = set_of(kLeastFilesOfThread);
  FilePool pool(set, 0);
  Rng random(1);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_GT(pool.absent(), 0U);
    pool.add(random);
    ASSERT_GT(pool.present(), 1U);
    pool.take(random);
  }
  for (int i = 0; i < 1000; ++i) {
    ASSERT_GT(pool.present(), 1U);
    pool.take(random);
    ASSERT_GT(pool.absent(), 0U);
    pool.add(random);
  }
}

}  // namespace
}  // namespace nvmemu::storage_bench
