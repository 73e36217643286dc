// SPDX-License-Identifier: Apache-2.0
// Memory that is mapped, moved and given up in ways in which what was there could come back, or be lost.
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <future>
#include <thread>

#include "simulated_process.h"

namespace nvmemu {
namespace {

using simulated::kBase;
using simulated::kLimit;
using simulated::pages;
using simulated::Process;

constexpr std::uint64_t kMany = 4 * kLimit;  // of which the first are out when all were written to

class PagerChanges : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(process_.pager.add(pages(0, kMany)));
    process_.fill(kMany);
  }
  long move(std::uint64_t from, std::uint64_t count, std::uint64_t to, bool is_told_where = false) {
    return process_.pager.move({.from = pages(from, count),
                                .target = is_told_where ? pages(to, count) : AddressRange{},
                                .new_bytes = count * kPageBytes,
                                .may_move = true},
                               [&] {
                                 process_.memory.move(kBase + from, kBase + to, count);
                                 return static_cast<long>((kBase + to) * kPageBytes);
                               });
  }
  void unmap(std::uint64_t first, std::uint64_t count, long result) {
    process_.pager.unmap(pages(first, count), [&] {
      process_.memory.unmap(kBase + first, kBase + first + count);
      return result;
    });
  }
  bool is_in_dram(std::uint64_t page) {
    std::uint64_t value;
    return process_.memory.load(kBase + page, value);
  }
  void push_out() {
    for (std::uint64_t page = kMany / 2; page < kMany; ++page) process_.load(page);
  }

  Process process_;
};

TEST_F(PagerChanges, WhatIsReplacedWhileItIsReadDoesNotComeBack) {
  constexpr std::uint64_t kFrom = 64, kCount = 16;
  std::promise<void> is_moved;
  std::thread mover;
  process_.store.during_next_read = [&](std::uint64_t) {
    mover = std::thread([&] {
      move(kFrom, kCount, 0, true);
      is_moved.set_value();
    });
    // It must not come to an end before the page is there.
    EXPECT_EQ(is_moved.get_future().wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
  };
  // Nobody touches it while it is moved.
  EXPECT_EQ(process_.fault((kBase + 3) * kPageBytes, false), FaultOutcome::kMended);
  mover.join();
  for (std::uint64_t i = 0; i < kCount; ++i) EXPECT_EQ(process_.load(i), kFrom + i + 1);
  EXPECT_EQ(process_.tally.surprises, 0U);
}

// A stack in it is not, say.
TEST_F(PagerChanges, WhatIsPagedInPartStaysSoWhereItIsMoved) {
  constexpr std::uint64_t kTo = 2 * kMany, kCount = 64;
  ASSERT_TRUE(process_.pager.release(pages(0, 4)));
  move(0, kCount, kTo);
  EXPECT_FALSE(process_.pager.is_paged((kBase + kTo) * kPageBytes));
  EXPECT_TRUE(process_.pager.is_paged((kBase + kTo + 4) * kPageBytes));
  for (std::uint64_t i = 0; i < kCount; ++i) EXPECT_EQ(process_.load(kTo + i), i + 1);
  EXPECT_EQ(process_.tally.surprises, 0U);
}

TEST_F(PagerChanges, WhatIsPagedInPartStaysSoWhereItIsMadeLonger) {
  ASSERT_TRUE(process_.pager.release(pages(0, 4)));
  process_.pager.move({.from = pages(0, kMany), .new_bytes = 2 * kMany * kPageBytes, .may_move = true}, [&] {
    process_.memory.lengthen(kBase + kMany, kBase + 2 * kMany);
    return static_cast<long>(kBase * kPageBytes);
  });
  for (std::uint64_t page = 0; page < 2 * kMany; ++page)
    ASSERT_EQ(process_.load(page), page < kMany ? page + 1 : 0);
  EXPECT_TRUE(process_.pager.is_paged((kBase + 2 * kMany - 1) * kPageBytes));
}

// The kernel may have no room to note it.
TEST_F(PagerChanges, WhatCannotBeWatchedAnyMoreIsBroughtIn) {
  constexpr std::uint64_t kTo = 2 * kMany, kCount = 64;
  push_out();
  process_.memory.refuses_watches = true;
  move(0, kCount, kTo);
  EXPECT_FALSE(process_.pager.is_paged((kBase + kTo) * kPageBytes));
  for (std::uint64_t i = 0; i < kCount; ++i) EXPECT_EQ(process_.load(kTo + i), i + 1);
  EXPECT_EQ(process_.tally.surprises, 0U);
}

TEST_F(PagerChanges, WhatAFailedCallHasUnmappedDoesNotComeBack) {
  unmap(0, 64, -ENOMEM);
  ASSERT_TRUE(process_.pager.add(pages(0, 64)));
  for (std::uint64_t page = 0; page < 128; ++page) ASSERT_EQ(process_.load(page), page < 64 ? 0 : page + 1);
  EXPECT_EQ(process_.pager.unmap(pages(64, 64), [] { return long{-EINVAL}; }), -EINVAL);
  for (std::uint64_t page = 64; page < 128; ++page) EXPECT_EQ(process_.load(page), page + 1);
}

// What is locked is not given up, nor what is behind it.
TEST_F(PagerChanges, WhatIsGivenUpBeforeTheKernelRefusesDoesNotComeBack) {
  ASSERT_TRUE(process_.pager.release(pages(64, 16)));
  const auto give_up = [&](AddressRange part, bool is_paged) {
    if (!is_paged) return long{-EINVAL};
    process_.memory.discard(part.begin / kPageBytes, part.end / kPageBytes);
    return 0L;
  };
  EXPECT_EQ(process_.pager.discard(pages(0, 128), give_up), -EINVAL);
  for (std::uint64_t page = 0; page < 128; ++page) EXPECT_EQ(process_.load(page), page < 64 ? 0 : page + 1);
  EXPECT_EQ(process_.tally.surprises, 0U);
}

// Locked or sealed memory: it must be neither here and there, nor the copy be taken for another's.
TEST_F(PagerChanges, WhatCannotBeDroppedStays) {
  process_.memory.refuses_moves = process_.memory.refuses_drops = true;
  for (std::uint64_t page = 0; page < kMany; ++page) ASSERT_EQ(process_.load(page), page + 1);
  for (std::uint64_t page = 0; page < kMany; ++page) process_.save(page, page + 2);
  process_.memory.refuses_moves = process_.memory.refuses_drops = false;
  push_out();
  for (std::uint64_t page = 0; page < kMany; ++page) ASSERT_EQ(process_.load(page), page + 2);
  EXPECT_EQ(process_.tally.surprises, 0U);
}

// Nobody would bring what is not there any more, or what goes out later.
TEST_F(PagerChanges, WhatGoesOnBeingWatchedStaysPaged) {
  constexpr std::uint64_t kTo = 2 * kMany, kCount = 64;
  push_out();
  process_.memory.refuses_unwatches = true;
  EXPECT_FALSE(process_.pager.release(pages(0, kCount)));
  EXPECT_EQ(move(0, kCount, kTo), -ENOMEM);
  process_.memory.refuses_unwatches = false;
  EXPECT_TRUE(process_.pager.is_paged(kBase * kPageBytes));
  push_out();
  for (std::uint64_t page = 0; page < kMany; ++page) ASSERT_EQ(process_.load(page), page + 1);
  EXPECT_TRUE(process_.pager.release(pages(0, kCount)));
  EXPECT_EQ(process_.tally.surprises, 0U);
}

// What a device writes to a page that it has in hand, and nobody sees, is written to the page that there is.
TEST_F(PagerChanges, WhatADeviceHoldsStays) {
  constexpr std::uint64_t kHeld = 7;
  process_.save(kHeld, 1);
  process_.memory.held_page = kBase + kHeld;
  push_out();
  ASSERT_TRUE(is_in_dram(kHeld));
  ASSERT_TRUE(process_.memory.store(kBase + kHeld, 2));
  process_.memory.held_page = 0;
  push_out();
  push_out();
  EXPECT_FALSE(is_in_dram(kHeld));
  EXPECT_EQ(process_.load(kHeld), 2U);
}

// What is shared with a child can be written to and evicted, and is written to the store as it is then.
TEST_F(PagerChanges, WhatAChildSharesIsCopied) {
  for (std::uint64_t page = 0; page < kMany; page += 3) process_.save(page, page + 2);
  process_.memory.share();
  push_out();
  for (std::uint64_t page = 0; page < kMany; ++page)
    ASSERT_EQ(process_.load(page), page + (page % 3 == 0 ? 2 : 1));
  EXPECT_EQ(process_.tally.surprises, 0U);
}

// Others who go on faulting do not keep it waiting: what they want they get behind it.
TEST_F(PagerChanges, AForkWaitsForWhatHasBegunOnly) {
  push_out();
  ComingPage coming;
  ASSERT_EQ(process_.pager.begin_fault(kBase * kPageBytes, false, coming).outcome, FaultOutcome::kComing);
  std::thread forker([&] {
    EXPECT_TRUE(process_.pager.prepare_fork([](const Slots&, std::byte*) { return true; }));
    process_.pager.after_fork();
  });
  const auto begins = [&](std::uint64_t page) {  // before the other one has begun to wait
    ComingPage other;
    const FaultOutcome begun = process_.pager.begin_fault((kBase + page) * kPageBytes, false, other).outcome;
    if (begun == FaultOutcome::kComing) {
      EXPECT_EQ(process_.pager.end_fault(other).outcome, FaultOutcome::kMended);
    }
    return begun != FaultOutcome::kLater;
  };
  constexpr auto kLongest = std::chrono::seconds(20);
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t page = 1;
  while (begins(page) && std::chrono::steady_clock::now() - start < kLongest) page = page % kMany + 1;
  EXPECT_FALSE(is_in_dram(page));
  EXPECT_EQ(process_.pager.end_fault(coming).outcome, FaultOutcome::kMended);
  forker.join();
  EXPECT_EQ(process_.load(page), page + 1);
}

// It would have to leave its copies behind.
TEST_F(PagerChanges, NoForkWhileSomeAreNeitherInTheStoreNorInMemory) {
  process_.store.refuses_writes = true;
  process_.memory.fails_one_in = 1;
  const auto shares = [](const Slots&, std::byte*) { return true; };
  EXPECT_FALSE(process_.pager.prepare_fork(shares));
  process_.pager.after_fork();
  process_.store.refuses_writes = false;
  process_.memory.fails_one_in = 0;
  EXPECT_TRUE(process_.pager.prepare_fork(shares));
  process_.pager.after_fork();
  for (std::uint64_t page = 0; page < kMany; ++page) ASSERT_EQ(process_.load(page), page + 1);
}

// Whose call was over long ago, when the memory was another's.
TEST_F(PagerChanges, NobodysPinIsTakenAwayByAnothers) {
  ASSERT_TRUE(process_.pager.pin(pages(0, 8), true));
  unmap(0, 8, 0);
  ASSERT_TRUE(process_.pager.add(pages(0, 8)));
  ASSERT_TRUE(process_.pager.pin(pages(0, 8), true));
  process_.pager.unpin(pages(0, 8));
  push_out();
  for (std::uint64_t page = 0; page < 8; ++page) EXPECT_TRUE(is_in_dram(page)) << page;
  process_.pager.unpin(pages(0, 8));
  push_out();
  EXPECT_FALSE(is_in_dram(0));
}

// What is paged only since another's call began was not pinned by that.
TEST_F(PagerChanges, NobodysPinIsTakenAwayByThatOfWhatIsPagedInPart) {
  unmap(0, 8, 0);
  ASSERT_TRUE(process_.pager.pin(pages(0, 16), true));
  ASSERT_TRUE(process_.pager.add(pages(0, 8)));
  ASSERT_TRUE(process_.pager.pin(pages(0, 8), true));
  process_.pager.unpin(pages(0, 16));
  push_out();
  for (std::uint64_t page = 0; page < 8; ++page) EXPECT_TRUE(is_in_dram(page)) << page;
}

TEST_F(PagerChanges, PinsStayWhereWhatIsThereIsMoved) {
  constexpr std::uint64_t kTo = 2 * kMany;
  ASSERT_TRUE(process_.pager.pin(pages(0, 8), true));
  move(0, 8, kTo);
  ASSERT_TRUE(process_.pager.pin(pages(kTo, 8), true));
  process_.pager.unpin(pages(0, 8));
  push_out();
  for (std::uint64_t page = 0; page < 8; ++page) EXPECT_TRUE(is_in_dram(kTo + page)) << page;
  process_.pager.unpin(pages(kTo, 8));
  push_out();
  EXPECT_FALSE(is_in_dram(kTo));
}

}  // namespace
}  // namespace nvmemu
