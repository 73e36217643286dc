// SPDX-License-Identifier: Apache-2.0
#include "storage/volume.h"

#include <gtest/gtest.h>

#include <vector>

namespace nvmemu {
namespace {

constexpr double kUs = 1e3, kMs = 1e6;
constexpr std::uint64_t kMiB = 1 << 20;

const StorageDevice kSsd{.device = {.read = LatencyQuantiles(100 * kUs),
                                    .write = LatencyQuantiles(50 * kUs),
                                    .read_bps = 409.6e6,  // 10 us a page
                                    .write_bps = 409.6e6,
                                    .channels = 8,
                                    .flush_ns = 500 * kUs}};
const StorageDevice kMemory{.mode = StorageMode::kDax,
                            .device = {.read = LatencyQuantiles(300),
                                       .write = LatencyQuantiles(100),
                                       .read_bps = 4.096e9,
                                       .write_bps = 2.048e9},
                            .commit_ns = 3000};

class VolumeTest : public ::testing::Test {
 protected:
  explicit VolumeTest(const StorageDevice& device = kSsd, std::uint32_t cache_pages = 1000)
      : device_(device),
        memory_(PageCache::bytes_for(cache_pages, 64) / sizeof(std::uint64_t) + 1, 0),
        cache_(memory_.data(), cache_pages, 64),
        state_(device_.device),
        volume_(device_, state_, cache_),
        file_(cache_.find_or_add({1, 1})) {
    cache_.file(file_).size = 100 * kMiB;
  }

  // How long each takes, ns.
  double read(std::uint64_t offset, std::uint64_t bytes, std::uint64_t now_ns) {
    ReadStream once;
    return static_cast<double>(volume_.read({file_, offset, bytes}, once, now_ns) - now_ns);
  }
  double write(std::uint64_t offset, std::uint64_t bytes, std::uint64_t now_ns) {
    return static_cast<double>(volume_.write({file_, offset, bytes}, now_ns) - now_ns);
  }
  double sync(SyncKind kind, std::uint64_t now_ns) {
    return static_cast<double>(volume_.sync(file_, kind, now_ns) - now_ns);
  }

  StorageDevice device_;
  std::vector<std::uint64_t> memory_;
  PageCache cache_;
  VolumeState state_;
  Volume volume_;
  PageCache::File file_;
};

TEST_F(VolumeTest, AReadTakesLatencyAndBytesOnce) {
  EXPECT_NEAR(read(0, 4096, 1'000'000), 110 * kUs, 1);
  EXPECT_EQ(read(0, 4096, 2'000'000), 0);
  EXPECT_NEAR(read(kMiB, kMiB, 3'000'000), 100 * kUs + 256 * 10 * kUs, 10);
  EXPECT_EQ(state_.tally.hit_pages.load(), 1U);
  EXPECT_EQ(state_.tally.missed_pages.load(), 257U);
}

TEST_F(VolumeTest, EachRunOfAbsentPagesIsARequest) {
  read(4096, 4096, 0);
  EXPECT_NEAR(read(0, 3 * 4096, 10'000'000), 2 * 110 * kUs, 1);
  EXPECT_EQ(state_.tally.device_reads.load(), 3U);
}

TEST_F(VolumeTest, AStreamIsReadAhead) {
  ReadStream stream;
  std::uint64_t now_ns = 0;
  int waits = 0;
  for (std::uint64_t page = 0; page < 256; ++page) {
    const std::uint64_t done_ns = volume_.read({file_, page * 4096, 4096}, stream, now_ns);
    waits += done_ns > now_ns ? 1 : 0;
    now_ns = done_ns + 50'000;  // slower than the device
  }
  EXPECT_LE(waits, 3);
  EXPECT_GT(state_.tally.read_ahead_pages.load(), 200U);
}

TEST_F(VolumeTest, WhatIsReadAheadIsWaitedForWhereItIsNotThereYet) {
  ReadStream stream;
  std::uint64_t now_ns = volume_.read({file_, 0, 4096}, stream, 0);
  now_ns = volume_.read({file_, 4096, 4096}, stream, now_ns);
  const std::uint64_t done_ns = volume_.read({file_, 8192, 4096}, stream, now_ns);
  EXPECT_NEAR(static_cast<double>(done_ns - now_ns), 100 * kUs + 32 * 10 * kUs - 110 * kUs, 2)
      << "it was asked for beside the read before";
}

TEST_F(VolumeTest, NothingIsReadAheadBeyondTheEnd) {
  cache_.file(file_).size = 3 * 4096;
  ReadStream stream;
  volume_.read({file_, 0, 4096}, stream, 0);
  volume_.read({file_, 4096, 4096}, stream, 1'000'000);
  EXPECT_EQ(state_.tally.read_ahead_pages.load(), 1U);
}

TEST_F(VolumeTest, WritesWaitForNothingWhileLittleIsDirty) {
  EXPECT_EQ(write(0, 100 * 4096, 0), 0);
  EXPECT_EQ(state_.tally.device_writes.load(), 0U);
  EXPECT_EQ(read(0, 100 * 4096, 0), 0);
}

// A tenth is written back in the background; beyond a fifth, writers wait for the device.
TEST_F(VolumeTest, WritersAreHeldToTheDevicesPace) {
  std::uint64_t now_ns = 0;
  for (std::uint64_t page = 0; page < 10'000; ++page)
    now_ns = volume_.write({file_, page * 4096, 4096}, now_ns);
  EXPECT_NEAR(static_cast<double>(now_ns), (10'000 - 200) * 10 * kUs, 0.1 * 1e8);
}

TEST_F(VolumeTest, APartOfAPageThatIsNotThereIsReadFirst) {
  EXPECT_NEAR(write(100, 50, 0), 110 * kUs, 1);
  EXPECT_EQ(write(200, 50, 1'000'000), 0);
  EXPECT_NEAR(write(8192 + 10, 2 * 4096, 2'000'000), 2 * 110 * kUs, 1);
  EXPECT_EQ(write(100 * kMiB + 10, 50, 3'000'000), 0) << "beyond the end there is nothing to be read";
}

TEST_F(VolumeTest, ASyncIsTheDataAndThenACommit) {
  write(0, 4 * 4096, 0);
  const double data_ns = 50 * kUs + 4 * 10 * kUs, commit_ns = 2 * (50 + 10 + 500) * kUs;
  EXPECT_NEAR(sync(SyncKind::kAll, 1'000'000), data_ns + commit_ns, 2);
  EXPECT_EQ(sync(SyncKind::kAll, 9'000'000), 0) << "nothing has changed";
  write(0, 4096, 10'000'000);
  EXPECT_NEAR(sync(SyncKind::kData, 11'000'000), (50 + 10 + 500) * kUs, 2)
      << "the size is as it was: no commit";
}

TEST_F(VolumeTest, WhatASyncOfAllHasCommittedIsNotCommittedAgain) {
  write(0, 4096, 0);
  const std::uint64_t done_ns = volume_.sync_all(0);
  EXPECT_EQ(sync(SyncKind::kAll, done_ns), 0);
  write(200 * kMiB, 4096, done_ns);
  EXPECT_GE(sync(SyncKind::kAll, done_ns), volume_.commit_ns()) << "it is longer since";
}

TEST_F(VolumeTest, ASyncWaitsForDirtyPagesThatHadToGiveWay) {
  write(0, 50 * 4096, 0);
  const PageCache::File other = cache_.find_or_add({1, 2});
  cache_.file(other).size = 100 * kMiB;
  ReadStream once;
  volume_.read({other, 0, 1000 * 4096}, once, 0);
  EXPECT_EQ(cache_.dirty_pages(), 0U);
  EXPECT_EQ(state_.tally.device_written_pages.load(), 50U);
  EXPECT_GE(volume_.write_back(file_, {.waits_before = true}, 0), 60 * kUs);
}

TEST_F(VolumeTest, CommitsAreShared) {
  write(0, 4096, 0);
  const PageCache::File other = cache_.find_or_add({1, 2}), third = cache_.find_or_add({1, 3});
  for (const PageCache::File file : {other, third}) volume_.write({file, 0, 4096}, 0);
  const std::uint64_t first_ns = volume_.sync(file_, SyncKind::kAll, 0);
  const std::uint64_t second_ns = volume_.sync(other, SyncKind::kAll, 200'000);
  EXPECT_EQ(volume_.sync(third, SyncKind::kAll, 400'000), second_ns);
  EXPECT_NEAR(static_cast<double>(second_ns - first_ns), volume_.commit_ns(), 2);
  EXPECT_EQ(state_.tally.shared_commits.load(), 1U);
}

// Its data may come later than that commit ends.
TEST_F(VolumeTest, WhoSharesACommitWaitsForTheOwnData) {
  write(0, 4096, 0);
  const PageCache::File other = cache_.find_or_add({1, 2});
  volume_.write({other, 0, 90 * 4096}, 0);
  cache_.file(other).written_back_ns = 50'000'000;
  const std::uint64_t first_ns = volume_.sync(file_, SyncKind::kAll, 0);
  EXPECT_LT(first_ns, 50'000'000U);
  EXPECT_EQ(volume_.sync(other, SyncKind::kAll, 0), 50'000'000U);
  EXPECT_EQ(state_.tally.shared_commits.load(), 1U);
}

TEST_F(VolumeTest, WhatIsCutOffIsNeverWritten) {
  write(0, 50 * 4096, 0);
  volume_.resize(file_, 0);
  volume_.sync_all(0);
  EXPECT_EQ(state_.tally.device_written_pages.load(), 0U);
}

TEST_F(VolumeTest, AFoldersNamesAreCommittedOnce) {
  EXPECT_EQ(volume_.sync_names(1000), 1000U);
  volume_.change_names();
  EXPECT_GT(volume_.sync_names(1000), 1000U);
  EXPECT_EQ(volume_.sync_names(5'000'000), 5'000'000U);
}

TEST_F(VolumeTest, PastTheCacheEachReadIsTheDevices) {
  for (std::uint64_t now_ns : {0, 1'000'000})
    EXPECT_NEAR(static_cast<double>(volume_.read_directly({file_, 0, 4096}, now_ns) - now_ns), 110 * kUs, 1);
  EXPECT_NEAR(static_cast<double>(volume_.write_directly({file_, 0, 4096}, 2'000'000)), 2 * kMs + 60 * kUs,
              1);
}

// A disk: one request at a time, and a write that does not follow the one before seeks.
class DiskVolumeTest : public VolumeTest {
 protected:
  static StorageDevice disk() {
    StorageDevice device = kSsd;
    device.device.channels = 1;
    device.device.sequential_write = LatencyQuantiles(10 * kUs);
    return device;
  }
  DiskVolumeTest() : VolumeTest(disk()) {}
  static constexpr double kCommitNs = 2 * (50 + 10 + 500) * kUs;
};

TEST_F(DiskVolumeTest, OneThreadWaitsForDataAndCommit) {
  write(0, 4096, 0);
  EXPECT_NEAR(sync(SyncKind::kAll, 0), 20 * kUs + 10 * kUs + kCommitNs, 2) << "a quarter of the seek";
  write(0, 4096, 10'000'000);
  EXPECT_NEAR(sync(SyncKind::kData, 10'000'000), 20 * kUs + 10 * kUs + 500 * kUs, 2);
}

TEST_F(DiskVolumeTest, FlushesComeOneAfterTheOther) {
  const PageCache::File other = cache_.find_or_add({1, 2});
  const auto sync_data = [&](PageCache::File file) { return volume_.sync(file, SyncKind::kData, 0); };
  EXPECT_EQ(sync_data(file_), 500'000U);
  EXPECT_EQ(sync_data(other), 1'000'000U);
}

TEST_F(DiskVolumeTest, AReadDuringACommitWaits) {
  write(0, 4096, 0);
  const auto done_ns = static_cast<double>(volume_.sync(file_, SyncKind::kAll, 0));
  const double between_ns = done_ns - kCommitNs / 2;
  EXPECT_NEAR(100'000 + read(kMiB, 4096, 100'000), between_ns + 110 * kUs, 2);
  const auto late = static_cast<std::uint64_t>(between_ns) + 10;
  EXPECT_NEAR(static_cast<double>(late) + read(2 * kMiB, 4096, late), done_ns + 2 * 110 * kUs, 3);
}

TEST_F(DiskVolumeTest, CommitsOfManyAreShared) {
  std::vector<PageCache::File> files{file_};
  for (std::uint64_t inode = 2; inode < 6; ++inode) files.push_back(cache_.find_or_add({1, inode}));
  for (const PageCache::File file : files) volume_.write({file, 0, 4096}, 0);
  const std::uint64_t first_ns = volume_.sync(files[0], SyncKind::kAll, 0);
  const std::uint64_t second_ns = volume_.sync(files[1], SyncKind::kAll, 100'000);
  EXPECT_NEAR(static_cast<double>(second_ns), static_cast<double>(first_ns) + kCommitNs, 2e5)
      << "and the writes that came between the first one's halves";
  for (std::size_t i = 2; i < files.size(); ++i)
    EXPECT_EQ(volume_.sync(files[i], SyncKind::kAll, 100'000 * i), second_ns);
  EXPECT_EQ(state_.tally.commits.load(), 2U);
  EXPECT_EQ(state_.tally.shared_commits.load(), 3U);
}

class MemoryVolumeTest : public VolumeTest {
 protected:
  MemoryVolumeTest() : VolumeTest(kMemory, 0) {}
};

TEST_F(MemoryVolumeTest, EachCallTakesLatencyAndBytes) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_NEAR(read(0, 4096, 100'000 * (i + 1)), 300 + 1000, 1);
    EXPECT_NEAR(write(0, 4096, 100'000 * (i + 1)), 100 + 2000, 1);
  }
  EXPECT_NEAR(sync(SyncKind::kAll, 1'000'000), 3000, 1);
}

TEST_F(MemoryVolumeTest, BytesAreMovedAtOneRateForAll) {
  read(0, kMiB, 0);
  EXPECT_NEAR(read(0, kMiB, 0), 300 + 2 * 256'000, 2);
}

class PagedMemoryVolumeTest : public VolumeTest {
 protected:
  static StorageDevice paged() {
    StorageDevice device = kSsd;
    device.mode = StorageMode::kPagedDax;
    device.commit_ns = 20 * kUs;
    return device;
  }
  PagedMemoryVolumeTest() : VolumeTest(paged()) {}
};

TEST_F(PagedMemoryVolumeTest, FaultsBringFourPagesAndASyncReachesNoDevice) {
  EXPECT_NEAR(read(0, 16 * 4096, 0), 4 * 140 * kUs, 4);
  write(0, 4 * 4096, 1'000'000);
  EXPECT_NEAR(sync(SyncKind::kAll, 2'000'000), 20 * kUs, 1);
  EXPECT_EQ(state_.tally.device_writes.load(), 0U);
}

TEST_F(VolumeTest, WhatIsWrittenBackIsWaitedForByWhoAsks) {
  write(0, 2 * 4096, 0);
  const std::uint64_t now_ns = 1'000'000;
  EXPECT_EQ(volume_.write_back(file_, {.begins = true}, now_ns), now_ns);
  EXPECT_EQ(state_.tally.device_written_pages.load(), 2U);
  const auto done_ns = static_cast<double>(volume_.write_back(file_, {.waits_before = true}, now_ns));
  EXPECT_NEAR(done_ns - 1'000'000, 70 * kUs, 1);
  write(0, 4096, now_ns);
  EXPECT_NEAR(static_cast<double>(volume_.write_back(file_, {.waits_before = true, .begins = true}, now_ns)),
              done_ns, 1)
      << "not for what has just begun";
  EXPECT_EQ(volume_.write_back(file_, {.waits_after = true}, 9'000'000), 9'000'000U);
}

TEST_F(VolumeTest, WhatIsToBeNeededIsOnItsWay) {
  cache_.file(file_).size = 10 * 4096;
  volume_.will_need({file_, 4 * 4096, 0}, 0);  // to the end
  EXPECT_EQ(state_.tally.device_reads.load(), 1U);
  EXPECT_EQ(state_.tally.device_read_pages.load(), 6U);
  EXPECT_NEAR(read(5 * 4096, 4096, 10'000), 160 * kUs - 10'000, 1);
  EXPECT_EQ(read(6 * 4096, 4096, 1'000'000), 0);
  volume_.will_need({file_, 0, 100 * 4096}, 2'000'000);
  EXPECT_EQ(state_.tally.device_read_pages.load(), 10U) << "what is there is not read again";
  volume_.will_need({file_, 100 * 4096, 4096}, 2'000'000);
  EXPECT_EQ(state_.tally.device_reads.load(), 2U) << "nothing is behind the end";
}

TEST_F(VolumeTest, WhatIsNotNeededGoesIfItIsCleanAndWhole) {
  cache_.file(file_).size = 10 * 4096;
  volume_.will_need({file_, 0, 0}, 0);
  write(3 * 4096, 4096, 1'000'000);
  volume_.will_not_need({file_, 4096 + 1, 4 * 4096}, 2'000'000);
  EXPECT_TRUE(cache_.touch(file_, 1)) << "a part of it is";
  EXPECT_FALSE(cache_.touch(file_, 2));
  EXPECT_TRUE(cache_.touch(file_, 3)) << "it is being written";
  EXPECT_FALSE(cache_.touch(file_, 4));
  EXPECT_TRUE(cache_.touch(file_, 5));
  EXPECT_EQ(cache_.dirty_pages(), 0U);
  volume_.will_not_need({file_, 0, 0}, 3'000'000);
  EXPECT_FALSE(cache_.touch(file_, 3));
  EXPECT_FALSE(cache_.touch(file_, 9));
}

TEST_F(VolumeTest, RoomThatIsTakenBackIsNotWritten) {
  cache_.file(file_).size = 0;
  write(0, 4 * 4096, 0);
  volume_.allocate({file_, 4096, 4096}, Allocation::kZeroed, 4 * 4096);
  EXPECT_EQ(cache_.dirty_pages(), 3U);
  volume_.allocate({file_, 2 * 4096, 4096}, Allocation::kMoved, 3 * 4096);
  EXPECT_EQ(cache_.dirty_pages(), 1U);
  EXPECT_EQ(cache_.file(file_).size, 3 * 4096U);
}

TEST_F(VolumeTest, RoomThatIsGivenIsCommitted) {
  sync(SyncKind::kAll, 0);
  volume_.allocate({file_, 0, 4096}, Allocation::kRoom, 100 * kMiB);
  sync(SyncKind::kData, 10'000'000);
  EXPECT_EQ(state_.tally.commits.load(), 1U);
}

TEST_F(VolumeTest, AMappingsSyncIsACommit) {
  write(0, 4096, 0);
  volume_.sync_mapped(file_, 1'000'000);
  volume_.sync_mapped(file_, 20'000'000);
  EXPECT_EQ(state_.tally.commits.load(), 2U);
  EXPECT_EQ(state_.tally.device_written_pages.load(), 1U);
}

}  // namespace
}  // namespace nvmemu
