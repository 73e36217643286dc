// SPDX-License-Identifier: Apache-2.0
#include "epoch/governor.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>
#include <vector>

namespace nvmemu {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

TEST(TokenBucket, IsBusyForAsLongAsTheBytesTake) {
  std::atomic<std::uint64_t> busy{0};
  TokenBucket bucket(busy, 1e9);
  EXPECT_EQ(bucket.book(5e8, 10 * kSecond), 10 * kSecond + kSecond / 2);
}

TEST(TokenBucket, BooksBehindWhatOthersHaveBooked) {
  std::atomic<std::uint64_t> busy{0};
  TokenBucket mine(busy, 1e9), theirs(busy, 1e9);
  mine.book(1e9, 10 * kSecond);
  EXPECT_EQ(theirs.book(1e9, 10 * kSecond), 12 * kSecond);
}

// The clock of a process in a time namespace may be ahead by hours; and anyone may write anything.
TEST(TokenBucket, WaitsForNoMomentThatNobodyCanHaveBooked) {
  for (const std::uint64_t moment :
       {10 * kSecond + 12 * kSecond, 10'000 * kSecond, ~std::uint64_t{0}, ~std::uint64_t{0} - 5}) {
    std::atomic<std::uint64_t> busy{moment};
    TokenBucket bucket(busy, 1e9);
    EXPECT_EQ(bucket.book(1e6, 10 * kSecond), 10 * kSecond + kSecond / 1000) << moment;
    EXPECT_EQ(bucket.book(1e6, 10 * kSecond), 10 * kSecond + 2 * kSecond / 1000) << "and it is mended";
  }
}

// Whatever it is that others write all the time.
TEST(TokenBucket, WaitsNoLongerThanItsBoundWhateverOthersWrite) {
  const std::uint64_t bound =
      kSecond + (4 * static_cast<std::uint64_t>(sysconf(_SC_NPROCESSORS_ONLN)) + 1) * kSecond / 1000;
  std::atomic<std::uint64_t> busy{0};
  TokenBucket bucket(busy, 1e9);
  for (std::uint64_t bits = 0; bits < 64; ++bits) {
    busy = std::uint64_t{1} << bits;
    EXPECT_LE(bucket.book(1e6, 10 * kSecond), 10 * kSecond + bound) << bits;
  }
}

TEST(TokenBucket, SavesNoIdleTimeUp) {
  std::atomic<std::uint64_t> busy{0};
  TokenBucket bucket(busy, 1e9);
  bucket.book(1e9, 10 * kSecond);
  EXPECT_EQ(bucket.book(1e9, 50 * kSecond), 51 * kSecond);
}

TEST(TokenBucket, WithoutALimitBooksNothing) {
  std::atomic<std::uint64_t> busy{0};
  TokenBucket bucket(busy, 0);
  EXPECT_EQ(bucket.book(1e12, kSecond), 0u);
  EXPECT_EQ(busy, 0u);
}

TEST(TokenBucket, LosesNothingOfManyThreads) {
  std::atomic<std::uint64_t> busy{0};
  constexpr int kThreads = 4, kBookings = 20'000;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&busy] {
      TokenBucket bucket(busy, 1e9);
      for (int k = 0; k < kBookings; ++k) bucket.book(1000, kSecond);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(busy, kSecond + std::uint64_t{kThreads} * kBookings * 1000);
}

TEST(Governor, HoldsForTheSlowerOfReadsAndWrites) {
  BusyUntil busy_until{};
  Governor governor(busy_until, {.read_bps = 2e9, .write_bps = 1e9});
  EXPECT_EQ(governor.book({.read_bytes = 1e9, .written_bytes = 1e9}, kSecond), 2 * kSecond);
  EXPECT_EQ(busy_until.read_ns, kSecond + kSecond / 2) << "each has a bucket of its own";
}

TEST(Governor, LimitsTiersByThemselves) {
  BusyUntil all{}, far{};
  Governor governor(all, {.read_bps = 4e9, .write_bps = 0});
  governor.limit(2, far, {.read_bps = 1e9, .write_bps = 1e9});
  TrafficCounts moved{.read_bytes = 4e9, .written_bytes = 1e9};
  EXPECT_EQ(governor.book(moved, kSecond), 2 * kSecond) << "nothing was the tier's";
  moved.tiers[2] = {.read_bytes = 3e9, .written_bytes = 1e9};
  EXPECT_EQ(governor.book(moved, 10 * kSecond), 13 * kSecond);
  EXPECT_EQ(all.read_ns, 11 * kSecond);
}

TEST(Governor, LimitsOneDirectionAlone) {
  BusyUntil busy_until{};
  Governor governor(busy_until, {.read_bps = 0, .write_bps = 1e9});
  EXPECT_EQ(governor.book({.read_bytes = 100e9, .written_bytes = 0}, kSecond), 0u);
}

}  // namespace
}  // namespace nvmemu
