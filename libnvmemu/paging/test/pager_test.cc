// SPDX-License-Identifier: Apache-2.0
#include "paging/pager.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <thread>
#include <vector>

#include "simulated_process.h"
#include "simulated_server.h"

namespace nvmemu {
namespace {

using simulated::kBase;
using simulated::kLimit;
using simulated::pages;
using simulated::Process;

TEST(Pager, KeepsNoMorePagesInDramThanItMay) {
  Process process;
  ASSERT_TRUE(process.pager.is_open());
  ASSERT_TRUE(process.pager.add(pages(0, 4 * kLimit)));
  process.fill(4 * kLimit);
  EXPECT_LE(process.memory.pages(), kLimit);
  EXPECT_LE(process.tally.most_dram_pages, kLimit);
  EXPECT_GE(process.tally.written_pages, 3 * kLimit);
}

TEST(Pager, ReadsBackWhatWasWritten) {
  Process process;
  ASSERT_TRUE(process.pager.add(pages(0, 4 * kLimit)));
  process.fill(4 * kLimit);
  for (std::uint64_t page = 0; page < 4 * kLimit; ++page) EXPECT_EQ(process.load(page), page + 1);
  EXPECT_GT(process.tally.hard_faults, 3 * kLimit);
  EXPECT_EQ(process.tally.surprises, 0U);
}

TEST(Pager, TouchesSeveralNewPagesAtOnceWhileThereIsRoom) {
  Process process;
  ASSERT_TRUE(process.pager.add(pages(0, 64)));
  for (std::uint64_t page = 0; page < 64; ++page) EXPECT_EQ(process.load(page), 0U);
  EXPECT_EQ(process.tally.first_touches, 64 / PageMapper::kMostZeros);
  EXPECT_EQ(process.tally.touched_pages, 64U);
}

// A file system that was full for a while: what there is more than there may be goes out then.
TEST(Pager, TriesAgainLaterWhatCouldNotBeWritten) {
  Process process;
  ASSERT_TRUE(process.pager.add(pages(0, 4 * kLimit)));
  process.store.refuses_writes = true;
  process.fill(2 * kLimit);
  EXPECT_GT(process.memory.pages(), 2 * kLimit - PageMapper::kStaging);
  EXPECT_GE(process.tally.failed_writes, 1U);
  process.store.refuses_writes = false;
  process.save(2 * kLimit, 7);
  EXPECT_GT(process.memory.pages(), 2 * kLimit - PageMapper::kStaging) << "not at once: to try takes long";
  process.clock.wait_until_ns(process.clock.now_ns() + 1'000'000'000);
  process.save(2 * kLimit + 1, 8);
  EXPECT_LE(process.memory.pages(), kLimit);
  for (std::uint64_t page = 0; page < 2 * kLimit; ++page) EXPECT_EQ(process.load(page), page + 1);
}

TEST(Pager, DoesNotWriteWhatTheStoreHas) {
  Process process;
  ASSERT_TRUE(process.pager.add(pages(0, 2 * kLimit)));
  process.fill(2 * kLimit);
  for (std::uint64_t page = 0; page < 2 * kLimit; ++page) process.load(page);
  const std::uint64_t written = process.tally.written_pages;
  for (int round = 0; round < 3; ++round) {
    for (std::uint64_t page = 0; page < 2 * kLimit; ++page) process.load(page);
  }
  EXPECT_EQ(process.tally.written_pages, written);
  EXPECT_GT(process.tally.dropped_pages, 5 * kLimit);
}

TEST(Pager, DoesNotWriteZeros) {
  Process process;
  ASSERT_TRUE(process.pager.add(pages(0, 4 * kLimit)));
  for (std::uint64_t page = 0; page < 4 * kLimit; ++page) process.save(page, 0);
  EXPECT_EQ(process.tally.written_pages, 0U);
  for (std::uint64_t page = 0; page < 4 * kLimit; ++page) EXPECT_EQ(process.load(page), 0U);
}

TEST(Pager, TakesBackWhatIsStillOnItsWay) {
  Process process;
  ASSERT_TRUE(process.pager.add(pages(0, kLimit)));
  process.fill(kLimit - 10);  // the oldest are set apart, and fewer than are written at once
  EXPECT_EQ(process.load(0), 1U);
  EXPECT_EQ(process.tally.soft_faults, 1U);
  EXPECT_EQ(process.tally.hard_faults, 0U);
}

TEST(Pager, WaitsAsLongAsTheDeviceTakes) {
  Process process({.latency_ns = 20'000});
  ASSERT_TRUE(process.pager.add(pages(0, 4 * kLimit)));
  process.fill(4 * kLimit);
  const std::uint64_t before_ns = process.clock.now_ns(), waited_ns = process.tally.device_ns;
  process.load(0);
  EXPECT_GE(process.clock.now_ns() - before_ns, 20'000U);
  EXPECT_GE(process.tally.device_ns - waited_ns, 20'000U);
}

TEST(Pager, KeepsPinnedPages) {
  Process process;
  ASSERT_TRUE(process.pager.add(pages(0, 4 * kLimit)));
  process.fill(4 * kLimit);
  ASSERT_TRUE(process.pager.pin(pages(0, 10), true));
  for (std::uint64_t page = 100; page < 4 * kLimit; ++page) process.load(page);
  for (std::uint64_t page = 0; page < 10; ++page) EXPECT_TRUE(process.memory.store(kBase + page, 7));
  process.pager.unpin(pages(0, 10));
  for (std::uint64_t page = 100; page < 4 * kLimit; ++page) process.load(page);
  std::uint64_t value;
  EXPECT_FALSE(process.memory.load(kBase, value));
  EXPECT_EQ(process.load(0), 7U);
}

TEST(Pager, LosesNothingWhereTheStoreIsFull) {
  Process process({.store_pages = 100});
  ASSERT_TRUE(process.pager.add(pages(0, 4 * kLimit)));
  process.fill(4 * kLimit);
  EXPECT_GT(process.tally.failed_writes, 0U);
  for (std::uint64_t page = 0; page < 4 * kLimit; ++page) EXPECT_EQ(process.load(page), page + 1);
}

TEST(Pager, SaysThatItCannotReadAndReadsLater) {
  Process process;
  ASSERT_TRUE(process.pager.add(pages(0, 4 * kLimit)));
  process.fill(4 * kLimit);
  process.store.refuses_reads = true;
  EXPECT_EQ(process.pager.fault(kBase * kPageBytes, false), FaultOutcome::kLost);
  EXPECT_FALSE(process.pager.pin(pages(0, 1), false));
  EXPECT_FALSE(process.pager.release(pages(0, 1)));
  process.store.refuses_reads = false;
  EXPECT_EQ(process.load(0), 1U);
}

TEST(Pager, LeavesOtherMemoryAlone) {
  Process process;
  ASSERT_TRUE(process.pager.add(pages(0, 10)));
  EXPECT_EQ(process.pager.fault((kBase + 10) * kPageBytes, true), FaultOutcome::kNotOurs);
  EXPECT_TRUE(process.pager.is_paged(kBase * kPageBytes));
  EXPECT_FALSE(process.pager.is_paged((kBase + 10) * kPageBytes));
}

// The kernel takes memory that lies beside it for one with it: nobody would ever bring a page there.
TEST(Pager, LetsGoOfWhatIsWatchedAndNotItsOwn) {
  Process process;
  ASSERT_TRUE(process.pager.add(pages(0, 10)));
  ASSERT_TRUE(process.memory.watch(pages(10, 1)));
  for (const std::uint64_t page : {9, 10}) process.pager.disown((kBase + page) * kPageBytes + 8);
  EXPECT_TRUE(process.memory.store(kBase + 10, 1));
  EXPECT_FALSE(process.memory.store(kBase + 9, 1));
}

// The kernel gives up what is mapped of such a range.
TEST(Pager, GivesUpWhatIsBesideAHole) {
  Process process;
  ASSERT_TRUE(process.pager.add(pages(0, 2 * kLimit)));
  process.fill(2 * kLimit);
  const auto give_up = [&](AddressRange part, bool is_paged) {
    process.memory.discard(part.begin / kPageBytes, part.end / kPageBytes);
    return is_paged ? 0L : long{-ENOMEM};
  };
  EXPECT_EQ(process.pager.discard(pages(0, 4 * kLimit), give_up), -ENOMEM);
  for (std::uint64_t page = 0; page < 2 * kLimit; ++page) EXPECT_EQ(process.load(page), 0U);
  EXPECT_EQ(process.tally.surprises, 0U);
}

TEST(Pager, BringsInWhatItReleases) {
  Process process;
  ASSERT_TRUE(process.pager.add(pages(0, 4 * kLimit)));
  process.fill(4 * kLimit);
  ASSERT_TRUE(process.pager.release(pages(0, 2 * kLimit)));
  EXPECT_FALSE(process.pager.is_paged(kBase * kPageBytes));
  for (std::uint64_t page = 0; page < 2 * kLimit; ++page) {
    std::uint64_t value = 0;
    ASSERT_TRUE(process.memory.load(kBase + page, value));
    EXPECT_EQ(value, page + 1);
    EXPECT_TRUE(process.memory.store(kBase + page, 1));
  }
  for (std::uint64_t page = 2 * kLimit; page < 4 * kLimit; ++page) EXPECT_EQ(process.load(page), page + 1);
}

TEST(Pager, CleansItsLogAndWritesInSequence) {
  Process process;
  constexpr std::uint64_t kPages = 3000;
  ASSERT_TRUE(process.pager.add(pages(0, kPages)));
  process.fill(kPages);
  std::vector<std::uint64_t> values(kPages);
  std::minstd_rand random(1);
  for (std::uint64_t step = 1; step < 30'000; ++step) {
    const std::uint64_t page = random() % kPages;
    process.save(page, values[page] = step);
  }
  EXPECT_GT(process.tally.cleaned_pages, 0U);
  const PagingTally& tally = process.tally;
  EXPECT_EQ(tally.sequential_writes + tally.random_writes, tally.written_pages + tally.cleaned_pages);
  EXPECT_GE(tally.sequential_writes, 19 * tally.random_writes);
  for (std::uint64_t page = 0; page < kPages; ++page)
    EXPECT_EQ(process.load(page), values[page] == 0 ? page + 1 : values[page]);
}

// While a page is being read nobody has a lock: by the time that it is there, the log has been written round,
// and its segment cleaned. It must lie where it lay.
TEST(Pager, DoesNotCleanAwayAPageThatIsBeingRead) {
  constexpr std::uint64_t kPages = 3000, kRead = 100, kColdBegin = 90, kColdEnd = 120;
  Process process;
  ASSERT_TRUE(process.pager.add(pages(0, kPages)));
  process.fill(kPages);
  std::vector<std::uint64_t> values(kPages);
  for (std::uint64_t page = 0; page < kPages; ++page) values[page] = page + 1;
  std::minstd_rand random(1);
  // Of the segment, nothing is needed in the end but what nobody writes to.
  const auto write_others = [&] {
    for (std::uint64_t step = kPages + 1; step < 20'000; ++step) {
      const std::uint64_t page = random() % kPages;
      if (page < kColdBegin || page >= kColdEnd) process.save(page, values[page] = step);
    }
  };
  std::uint64_t read_from = 0;
  std::vector<simulated::Store::Request> meanwhile;
  process.store.during_next_read = [&](std::uint64_t slot) {
    read_from = slot;
    process.store.trace = &meanwhile;
    write_others();
    process.store.trace = nullptr;
  };
  EXPECT_EQ(process.load(kRead), values[kRead]);
  const auto reads_beside_it = [&](const simulated::Store::Request& request) {
    return !request.is_write && (request.slot + request.pages == read_from || request.slot == read_from + 1);
  };
  EXPECT_TRUE(std::ranges::any_of(meanwhile, reads_beside_it)) << "the cleaner has not been there";
  const auto takes_it = [&](const simulated::Store::Request& request) {
    return request.slot <= read_from && read_from < request.slot + request.pages;
  };
  EXPECT_FALSE(std::ranges::any_of(meanwhile, takes_it));
  write_others();  // it leaves DRAM, and what lies in its place is read
  for (std::uint64_t page = 0; page < kPages; ++page) ASSERT_EQ(process.load(page), values[page]) << page;
  EXPECT_EQ(process.tally.surprises, 0U);
}

class PagerReadAhead : public ::testing::TestWithParam<ReadAheadKind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, PagerReadAhead,
                         ::testing::Values(ReadAheadKind::kNone, ReadAheadKind::kWindow,
                                           ReadAheadKind::kAdaptive));

// Each has pages of its own, and all read some that none writes, while some is mapped and unmapped.
void expect_threads_served(Process& process) {
  constexpr unsigned kThreads = 4;
  constexpr std::uint64_t kEach = 512;
  process.store.yields = 2;
  ASSERT_TRUE(process.pager.add(pages(0, (kThreads + 1) * kEach)));
  for (std::uint64_t page = 0; page < kEach; ++page) process.save(page, page + 1);
  const auto work = [&](unsigned number) {
    const std::uint64_t first = (number + 1) * kEach;
    std::minstd_rand random(number + 1);
    std::vector<std::uint64_t> mine(kEach);
    for (unsigned step = 0; step < 5'000 && !::testing::Test::HasFailure(); ++step) {
      const std::uint64_t page = random() % kEach;
      switch (random() % 4) {
        case 0:
          EXPECT_EQ(process.load(page), page + 1);
          break;
        case 1:
          process.save(first + page, mine[page] = step + 1);
          break;
        case 2:
          if (step % 16 == 0) {
            const auto drop = [&](AddressRange, bool) {
              process.memory.discard(kBase + first + page, kBase + first + page + 1);
              return 0L;
            };
            process.pager.discard(pages(first + page, 1), drop);
            mine[page] = 0;
          }
          [[fallthrough]];
        default:
          EXPECT_EQ(process.load(first + page), mine[page]);
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(process.tally.failed_reads, 0U);
}

TEST_P(PagerReadAhead, ServesThreadsAtOnce) {
  Process process({.shared_one_in = 5, .latency_ns = 0, .choices = {.read_ahead = GetParam()}});
  expect_threads_served(process);
}

TEST_P(PagerReadAhead, ServesThreadsByAnother) {
  Process process({.shared_one_in = 5, .choices = {.read_ahead = GetParam()}});
  simulated::Server server(process.pager, process.clock);
  process.ask = [&server](std::uintptr_t address, bool write) { return server.fault(address, write); };
  expect_threads_served(process);
}

}  // namespace
}  // namespace nvmemu
