// SPDX-License-Identifier: Apache-2.0
#include "storage/shared_storage.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace nvmemu {
namespace {

class SharedStorageTest : public ::testing::Test {
 protected:
  SharedStorageTest() {
    std::string pattern = ::testing::TempDir() + "nvmemu-storage-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    path_ = folder_ / "run.storage";
  }
  ~SharedStorageTest() override { std::filesystem::remove_all(folder_); }

  static constexpr SharedStorage::Shape kShape{.volumes = 2, .cache_bytes = 1 << 20};
  const StorageDevice devices_[2] = {};
  std::filesystem::path folder_;
  std::string path_;
};

TEST_F(SharedStorageTest, IsTheSameForAllWhoOpenIt) {
  Result<SharedStorage> made = SharedStorage::create(path_, kShape, devices_);
  ASSERT_TRUE(made);
  Result<SharedStorage> opened = SharedStorage::open(path_.c_str(), kShape);
  ASSERT_TRUE(opened);
  PageCache cache = made->cache(1);
  cache.add(cache.find_or_add({1, 2}), 3);
  PageCache other = opened->cache(1);
  EXPECT_TRUE(other.touch(other.find({1, 2}), 3));
  EXPECT_EQ(opened->cache(0).find({1, 2}), 0U);
}

TEST_F(SharedStorageTest, RefusesWhatIsNot) {
  EXPECT_FALSE(SharedStorage::open(path_.c_str(), kShape));
  ASSERT_TRUE(SharedStorage::create(path_, kShape, devices_));
  EXPECT_FALSE(SharedStorage::create(path_, kShape, devices_)) << "it is there";
  EXPECT_FALSE(SharedStorage::open(path_.c_str(), {.volumes = 1, .cache_bytes = kShape.cache_bytes}));
  std::filesystem::resize_file(path_, 4096);
  EXPECT_FALSE(SharedStorage::open(path_.c_str(), kShape));
}

TEST_F(SharedStorageTest, TheLockOfWhoWasKilledIsTakenOver) {
  Result<SharedStorage> made = SharedStorage::create(path_, kShape, devices_);
  ASSERT_TRUE(made);
  const pid_t child = fork();
  if (child == 0) {
    made->lock(0).lock();
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_EQ(made->lock(0).lock(), SharedLock::Taken::kFromTheDead);
  made->reset(0, devices_[0]);
  EXPECT_EQ(made->tally(0).resets.load(), 1U);
  EXPECT_EQ(made->lock(0).lock(), SharedLock::Taken::kNot) << "this thread has it";
  made->lock(0).unlock();
  EXPECT_EQ(made->lock(0).lock(), SharedLock::Taken::kUsually);
}

}  // namespace
}  // namespace nvmemu
