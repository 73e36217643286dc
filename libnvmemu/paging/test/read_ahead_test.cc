// SPDX-License-Identifier: Apache-2.0
#include "paging/read_ahead.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

#include "simulated_process.h"

namespace nvmemu {
namespace {

using simulated::kBase;
using simulated::kLimit;
using simulated::pages;
using simulated::Process;
using simulated::Store;

constexpr std::uint64_t kPages = 8 * kLimit;

// All of whose pages are out but the last ones.
struct Reader : Process {
  explicit Reader(ReadAheadKind kind, LayoutKind layout = LayoutKind::kLog, double latency_ns = 5000)
      : Process({.latency_ns = latency_ns, .choices = {.layout = layout, .read_ahead = kind}}) {
    EXPECT_TRUE(pager.add(pages(0, kPages)));
    fill(kPages);
  }
  void read(std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t page = begin; page < end; ++page) EXPECT_EQ(load(page), page + 1);
  }
  void read_at_random(int times) {
    for (int i = 0; i < times; ++i) {
      const std::uint64_t page = random() % kPages;
      EXPECT_EQ(load(page), page + 1);
    }
  }
  std::minstd_rand random;
};

TEST(ReadAhead, OfARowOfPagesOneInEightIsWaitedFor) {
  Reader reader(ReadAheadKind::kWindow);
  reader.read(0, 1024);
  EXPECT_LE(reader.tally.hard_faults, 1024 / 8 + 1);
  EXPECT_GE(reader.tally.ahead_used, 1024 * 7 / 8 - 1);
  EXPECT_EQ(reader.tally.ahead_dropped, 0U);
}

TEST(ReadAhead, SeveralPagesAreOneRequest) {
  Reader reader(ReadAheadKind::kWindow, LayoutKind::kLog, 20'000);
  const std::uint64_t begin_ns = reader.clock.now_ns();
  reader.read(0, 1024);
  EXPECT_LE(reader.clock.now_ns() - begin_ns, (1024 / 8 + 20) * 20'000U);
}

TEST(ReadAhead, WhatIsReadAheadIsUsedOrDroppedOrThereYet) {
  for (const ReadAheadKind kind : {ReadAheadKind::kWindow, ReadAheadKind::kAdaptive}) {
    Reader reader(kind);
    reader.read_at_random(5000);
    reader.read(0, kPages);
    const PagingTally& tally = reader.tally;
    EXPECT_GT(tally.ahead_dropped, 0U);
    EXPECT_GT(tally.ahead_used, 0U);
    EXPECT_LE(tally.ahead_used + tally.ahead_dropped, tally.ahead_pages);
    EXPECT_LE(tally.ahead_pages, tally.ahead_used + tally.ahead_dropped + AheadPages::kMost);
    EXPECT_EQ(tally.sequential_reads + tally.random_reads, tally.hard_faults + tally.ahead_pages);
  }
}

TEST(ReadAhead, StaysWithinItsDram) {
  Reader reader(ReadAheadKind::kWindow);
  reader.read(0, kPages);
  EXPECT_LE(reader.memory.pages() + AheadPages::kMost + PageMapper::kStaging, kLimit);
}

TEST(ReadAhead, WhatIsGivenUpMeanwhileIsNotReadFromBefore) {
  Reader reader(ReadAheadKind::kWindow);
  reader.load(0);  // and those after it are read ahead
  ASSERT_GT(reader.tally.ahead_pages, 0U);
  for (std::uint64_t page = 1; page < 8; ++page) {
    reader.pager.discard(pages(page, 1), [&](AddressRange, bool) {
      reader.memory.discard(kBase + page, kBase + page + 1);
      return 0L;
    });
  }
  EXPECT_EQ(reader.tally.ahead_dropped, reader.tally.ahead_pages);
  for (std::uint64_t page = 1; page < 8; ++page) EXPECT_EQ(reader.load(page), 0U);
}

TEST(ReadAhead, ANeighbourThatCannotBeReadHurtsNobodyElse) {
  Reader reader(ReadAheadKind::kWindow);
  std::vector<Store::Request> trace;
  reader.store.trace = &trace;
  reader.load(500);
  const std::uint64_t window = trace.at(0).slot + ReadAhead::kWindow;
  ASSERT_EQ(trace.at(0).pages, ReadAhead::kWindow);
  reader.store.unreadable = window + 3;
  unsigned lost = 0;
  for (std::uint64_t page = 490; page < 530; ++page) {
    std::uint64_t value = page + 1;
    if (reader.pager.fault((kBase + page) * kPageBytes, false) == FaultOutcome::kLost) {
      ++lost;
    } else if (reader.memory.load(kBase + page, value)) {
      EXPECT_EQ(value, page + 1);
    }
  }
  EXPECT_EQ(lost, 1U);
  reader.store.unreadable = 0;
  reader.read(0, kPages);
}

TEST(AdaptiveReadAhead, IsOffWhereItDoesNotHelpAndOnAgainWhereItDoes) {
  Reader reader(ReadAheadKind::kAdaptive);
  reader.read_at_random(2000);
  const std::uint64_t read = reader.tally.ahead_pages;
  reader.read_at_random(2000);
  EXPECT_LE(reader.tally.ahead_pages - read, 200U);
  const std::uint64_t faults = reader.tally.hard_faults;
  reader.read(0, 1024);
  EXPECT_LE(reader.tally.hard_faults - faults, 1024 / 8 + 40);
}

TEST(AdaptiveReadAhead, IsOffWhereNeighboursAreStrangers) {
  Reader reader(ReadAheadKind::kAdaptive, LayoutKind::kScattered);
  reader.read(0, kPages);
  EXPECT_LE(reader.tally.ahead_pages, kPages / 8);
}

// What a request is to the device is what anybody would say who has seen all of them.
TEST(DeviceSeam, CountsWhatIsInSequenceAsATraceHasIt) {
  const Result<PageDeviceProfile> ssd = find_page_device("ssd-2008");
  ASSERT_TRUE(ssd);
  const std::uint64_t block_pages = ssd->device.erase_block_bytes / kPageBytes;
  for (const LayoutKind layout : {LayoutKind::kLog, LayoutKind::kInPlace, LayoutKind::kScattered}) {
    Process process(
        {.choices = {.layout = layout, .read_ahead = ReadAheadKind::kAdaptive}, .device = ssd->device});
    std::vector<Store::Request> trace;
    process.store.trace = &trace;
    ASSERT_TRUE(process.pager.add(pages(0, 3000)));
    std::minstd_rand random;
    for (int step = 1; step < 2000; ++step) {
      const std::uint64_t first = random() % 2900;
      for (std::uint64_t page = first; page < first + 30; ++page) {
        if (step % 3 == 0) process.save(page, static_cast<std::uint64_t>(step));
        if (step % 3 != 0) process.load(page);
      }
    }
    std::uint64_t next[2] = {}, sequential[2] = {}, scattered[2] = {};  // of reads, of writes
    std::uint64_t erases = 0, last_block = ~std::uint64_t{0};
    for (const auto& [is_write, slot, count] : trace) {
      (slot == next[is_write] ? sequential : scattered)[is_write] += count;
      next[is_write] = slot + count;
      for (std::uint64_t page = slot; is_write && page < slot + count; ++page) {
        if (std::exchange(last_block, page / block_pages) != page / block_pages) ++erases;
      }
    }
    const PagingTally& tally = process.tally;
    EXPECT_EQ(tally.sequential_reads, sequential[0]);
    EXPECT_EQ(tally.random_reads, scattered[0]);
    EXPECT_EQ(tally.sequential_writes, sequential[1]);
    EXPECT_EQ(tally.random_writes, scattered[1]);
    EXPECT_EQ(tally.erases, erases);
    EXPECT_GT(erases, 0U);
    EXPECT_EQ(sequential[1] + scattered[1], tally.written_pages + tally.cleaned_pages);
    EXPECT_EQ(sequential[0] + scattered[0], tally.hard_faults + tally.ahead_pages + tally.cleaned_pages);
  }
}

}  // namespace
}  // namespace nvmemu
