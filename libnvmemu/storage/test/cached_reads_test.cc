// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "storage/shared_lock.h"
#include "storage/volume.h"

namespace nvmemu {
namespace {

constexpr std::uint64_t kPage = 4096;
const StorageDevice kDisk{.device = {.read = LatencyQuantiles(100e3), .write = LatencyQuantiles(50e3)},
                          .read_ahead_bytes = 8 * kPage};

class CachedReads : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kPages = 64, kFiles = 4;
  static constexpr FileName kName{1, 7};

  CachedReads()
      : memory_(PageCache::bytes_for(kPages, kFiles) / sizeof(std::uint64_t) + 1, 0),
        cache_(memory_.data(), kPages, kFiles),
        state_(kDisk.device),
        volume_(kDisk, state_, cache_),
        file_(cache_.find_or_add(kName)) {
    cache_.file(file_).size = 48 * kPage;
  }

  bool read(std::uint64_t page, std::uint64_t pages, std::uint64_t now_ns = 0) {
    return volume_.read_cached(lock_, kName, {file_, page * kPage, pages * kPage}, stream_, now_ns);
  }

  std::vector<std::uint64_t> memory_;
  PageCache cache_;
  VolumeState state_;
  Volume volume_;
  PageCache::File file_;
  SharedLock lock_{};
  ReadStream stream_;
};

TEST_F(CachedReads, AreOfPagesThatAreAllThere) {
  EXPECT_FALSE(read(2, 2));
  cache_.add(file_, 2);
  EXPECT_FALSE(read(2, 2));
  EXPECT_EQ(state_.tally.reads.load(), 0U) << "it is asked again with the lock";
  cache_.add(file_, 3);
  EXPECT_TRUE(read(2, 2));
  EXPECT_EQ(state_.tally.reads.load(), 1U);
  EXPECT_EQ(state_.tally.read_bytes.load(), 2 * kPage);
  EXPECT_EQ(state_.tally.hit_pages.load(), 2U);
}

TEST_F(CachedReads, AreOfTheFileOfThatName) {
  cache_.add(file_, 0);
  EXPECT_FALSE(volume_.read_cached(lock_, {1, 8}, {file_, 0, kPage}, stream_, 0));
  EXPECT_FALSE(volume_.read_cached(lock_, kName, {kFiles + 5, 0, kPage}, stream_, 0));
}

TEST_F(CachedReads, WaitForNobodyWhoChangesAnything) {
  cache_.add(file_, 0);
  lock_.lock();
  EXPECT_FALSE(read(0, 1));
  lock_.unlock();
  EXPECT_TRUE(read(0, 1));
}

TEST_F(CachedReads, LeaveWhatIsOnItsWayToWhoMustWaitForIt) {
  cache_.add(file_, 5);
  CachedFile& entry = cache_.file(file_);
  entry.ahead_begin = 4;
  entry.ahead_end = 8;
  entry.ahead_ready_ns = 1000;
  EXPECT_FALSE(read(5, 1, 999));
  EXPECT_TRUE(read(5, 1, 1000));
}

// With the lock, the second read would read ahead.
TEST_F(CachedReads, LeaveAStreamThatIsToBeReadAhead) {
  for (std::uint32_t page = 0; page < 10; ++page) cache_.add(file_, page);
  EXPECT_TRUE(read(0, 1));
  EXPECT_TRUE(read(1, 1)) << "the next 8 are there";
  EXPECT_FALSE(read(2, 1));
  volume_.read({file_, 2 * kPage, kPage}, stream_, 0);
  EXPECT_EQ(state_.tally.read_ahead_pages.load(), 1U);
}

TEST_F(CachedReads, KeepTheirPagesAndFilesLonger) {
  for (std::uint32_t page = 0; page < kPages; ++page) cache_.add(file_, page);
  EXPECT_TRUE(read(0, 2));
  EXPECT_EQ(cache_.add(file_, 100).page, 2U);
  EXPECT_EQ(cache_.add(file_, 101).page, 3U);
  for (std::uint64_t inode = 8; inode < 8 + kFiles - 1; ++inode) cache_.find_or_add({1, inode});
  PageCache::File known = 0;
  EXPECT_TRUE(volume_.knows(lock_, kName, 48 * kPage, known));
  EXPECT_EQ(known, file_);
  cache_.find_or_add({1, 20});
  EXPECT_NE(cache_.find(kName), 0U);
  EXPECT_EQ(cache_.find({1, 8}), 0U);
}

TEST_F(CachedReads, OfAnotherLengthAFileIsNotKnown) {
  PageCache::File known = 0;
  EXPECT_FALSE(volume_.knows(lock_, kName, 47 * kPage, known));
  EXPECT_FALSE(volume_.knows(lock_, {1, 8}, 0, known));
  EXPECT_EQ(known, 0U);
}

// Pages 0 and 1 are there or not, but always both or none; whoever looks while that changes sees no half.
TEST_F(CachedReads, SeeNothingHalfDone) {
  std::atomic<bool> is_over{false};
  std::thread writer([&] {
    for (int i = 0; i < 20'000; ++i) {
      lock_.lock();
      if (i % 2 == 0) {
        cache_.add(file_, 0);
        cache_.add(file_, 1);
        cache_.file(file_).size = 2 * kPage;
      } else {
        cache_.drop(file_, 0);
        cache_.file(file_).size = 3 * kPage;
      }
      lock_.unlock();
    }
    is_over = true;
  });
  std::uint64_t seen = 0;
  while (!is_over) seen += read(0, 2) ? 1 : 0;
  writer.join();
  EXPECT_EQ(state_.tally.hit_pages.load(), 2 * seen);
  EXPECT_FALSE(read(0, 1)) << "the last one took them away";
}

TEST(SharedLock, TellsThatItWasTakenMeanwhile) {
  SharedLock lock{};
  const std::uint32_t before = lock.changes();
  EXPECT_TRUE(lock.is_as_it_was(before));
  lock.lock();
  EXPECT_FALSE(lock.is_as_it_was(before));
  EXPECT_FALSE(lock.is_as_it_was(lock.changes()));
  lock.unlock();
  EXPECT_FALSE(lock.is_as_it_was(before));
  EXPECT_TRUE(lock.is_as_it_was(lock.changes()));
}

}  // namespace
}  // namespace nvmemu
