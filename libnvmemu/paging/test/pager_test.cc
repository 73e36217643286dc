// SPDX-License-Identifier: Apache-2.0
#include "paging/pager.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>
#include <thread>
#include <unordered_map>
#include <vector>

#include "simulated_memory.h"

namespace nvmemu {
namespace {

using simulated::Clock;
using simulated::Memory;
using simulated::Store;

constexpr std::uint64_t kBase = 0x10000;  // the first page
constexpr std::uint64_t kLimit = Pager::kLeastPages;

constexpr AddressRange pages(std::uint64_t first, std::uint64_t count) {
  return {(kBase + first) * kPageBytes, (kBase + first + count) * kPageBytes};
}

// A process with a pager, and what must be in its memory.
struct Process {
  explicit Process(std::uint64_t store_pages = 8192, unsigned shared_one_in = 0, double latency_ns = 5000)
      : memory(shared_one_in),
        store(store_pages),
        pager({memory, store, clock, tally}, page_device_of(latency_ns), kLimit, store_pages) {}

  std::uint64_t load(std::uint64_t page) {
    std::uint64_t value = ~std::uint64_t{0};
    for (int tries = 0; !memory.load(kBase + page, value); ++tries) {
      EXPECT_LT(tries, 1000);
      EXPECT_EQ(pager.fault((kBase + page) * kPageBytes + 8, false), FaultOutcome::kMended);
      if (::testing::Test::HasFailure()) return value;
    }
    return value;
  }
  void save(std::uint64_t page, std::uint64_t value) {
    for (int tries = 0; !memory.store(kBase + page, value); ++tries) {
      ASSERT_LT(tries, 1000);
      ASSERT_EQ(pager.fault((kBase + page) * kPageBytes + 8, true), FaultOutcome::kMended);
    }
  }
  void fill(std::uint64_t count) {
    for (std::uint64_t page = 0; page < count; ++page) save(page, page + 1);
  }

  PagingTally tally{};
  Clock clock;
  Memory memory;
  Store store;
  Pager pager;
};

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
  Process process(8192, 0, 20'000);
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
  Process process(100);
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

// Everything that can happen to memory, in any order, and after each step what the program reads is what it
// last wrote.
class Chaos {
 public:
  Chaos(Process& process, unsigned seed) : process_(process), random_(seed) { grow(); }

  void run(unsigned steps) {
    for (unsigned step = 0; step < steps && !::testing::Test::HasFailure(); ++step) {
      switch (random_() % 64) {
        case 0:
          unmap();
          break;
        case 1:
          grow();
          break;
        case 2:
          discard();
          break;
        case 3:
          move();
          break;
        case 4:
          process_.store.refuses_writes = random_() % 3 == 0;
          break;
        case 5:
          fail_a_read();
          break;
        case 6:
          kernel_writes();
          break;
        case 7:
          if (random_() % 20 == 0) release();
          break;
        default:
          access();
      }
    }
  }
  // All that is there.
  void check() {
    for (const auto& [page, value] : values_) ASSERT_EQ(process_.load(page), value) << "page " << page;
    EXPECT_EQ(process_.tally.surprises, 0U);
  }

 private:
  static constexpr std::uint64_t kSpan = 2048;

  struct Piece {
    std::uint64_t first, count;
  };
  Piece some_piece() {
    const std::uint64_t first = random_() % kSpan;
    return {first, 1 + random_() % std::min<std::uint64_t>(128, kSpan - first)};
  }
  std::uint64_t some_page() { return random_() % 4 == 0 ? random_() % 64 : random_() % kSpan; }

  void access() {
    const std::uint64_t page = some_page();
    const auto found = values_.find(page);
    if (found == values_.end()) return;
    if (random_() % 2 == 0) {
      ASSERT_EQ(process_.load(page), found->second) << "page " << page;
    } else {
      found->second = random_() % 8 == 0 ? 0 : ++last_;
      process_.save(page, found->second);
    }
  }
  void map(Piece piece) {
    process_.pager.unmap(pages(piece.first, piece.count), [&] {
      process_.memory.unmap(kBase + piece.first, kBase + piece.first + piece.count);
      return 0L;
    });
    ASSERT_TRUE(process_.pager.add(pages(piece.first, piece.count)));
    for (std::uint64_t i = 0; i < piece.count; ++i) values_[piece.first + i] = 0;
  }
  void grow() {
    for (std::uint64_t first = 0; first < kSpan; first += 256) {
      bool is_free = true;
      for (std::uint64_t i = 0; i < 256; ++i) is_free &= !values_.contains(first + i);
      if (is_free) return map({first, 256});
    }
    map(some_piece());
  }
  void unmap() {
    const Piece piece = some_piece();
    process_.pager.unmap(pages(piece.first, piece.count), [&] {
      process_.memory.unmap(kBase + piece.first, kBase + piece.first + piece.count);
      return 0L;
    });
    for (std::uint64_t i = 0; i < piece.count; ++i) values_.erase(piece.first + i);
  }
  void discard() {
    const Piece piece = some_piece();
    process_.pager.discard(pages(piece.first, piece.count), [&] {
      process_.memory.discard(kBase + piece.first, kBase + piece.first + piece.count);
      return 0L;
    });
    for (std::uint64_t i = 0; i < piece.count; ++i) {
      if (const auto found = values_.find(piece.first + i); found != values_.end()) found->second = 0;
    }
  }
  void move() {
    const Piece from = some_piece();
    const std::uint64_t to = kSpan + random_() % kSpan;  // beyond, and back where the next one maps
    const bool was_paged = process_.pager.is_paged((kBase + from.first) * kPageBytes);
    for (std::uint64_t i = 0; i < from.count; ++i) {
      if (values_.contains(from.first + i) != was_paged) return;  // the kernel moves whole mappings
    }
    process_.pager.move(pages(from.first, from.count), from.count * kPageBytes, true, false, [&] {
      process_.memory.move(kBase + from.first, kBase + to, from.count);
      return static_cast<long>((kBase + to) * kPageBytes);
    });
    for (std::uint64_t i = 0; i < from.count; ++i) {
      values_.erase(to + i);
      if (auto node = values_.extract(from.first + i); !node.empty()) {
        node.key() = to + i;
        values_.insert(std::move(node));
      }
    }
  }
  void fail_a_read() {
    process_.store.refuses_reads = true;
    process_.pager.fault((kBase + some_page()) * kPageBytes, random_() % 2 == 0);
    process_.store.refuses_reads = false;
  }
  void kernel_writes() {
    const std::uint64_t page = some_page();
    const auto found = values_.find(page);
    if (found == values_.end()) return;
    ASSERT_TRUE(process_.pager.pin(pages(page, 1), true));
    found->second = ++last_;
    EXPECT_TRUE(process_.memory.store(kBase + page, found->second));
    process_.pager.unpin(pages(page, 1));
  }
  void release() {
    const Piece piece = some_piece();
    AddressRange range = pages(piece.first, piece.count);
    range.begin += random_() % kPageBytes;  // as where a stack lies
    range.end -= random_() % kPageBytes;
    ASSERT_TRUE(process_.pager.release(range));
  }

  Process& process_;
  std::mt19937 random_;
  std::unordered_map<std::uint64_t, std::uint64_t> values_;
  std::uint64_t last_ = 0;
};

class PagerChaos : public ::testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Seeds, PagerChaos, ::testing::Range(1U, 9U));

TEST_P(PagerChaos, ReadsWhatWasLastWritten) {
  Process process(GetParam() % 2 == 0 ? 8192 : 700, GetParam() % 3 == 0 ? 3 : 0);
  Chaos chaos(process, GetParam());
  chaos.run(20'000);
  process.store.refuses_writes = false;
  chaos.check();
}

TEST_P(PagerChaos, ChildAndParentEachReadTheirOwn) {
  constexpr std::uint64_t kSlots = 8192;
  Process process(kSlots, GetParam() % 2 == 0 ? 4 : 0);
  Chaos chaos(process, GetParam());
  chaos.run(5'000);
  process.store.refuses_writes = false;
  Store copy(kSlots);
  ASSERT_TRUE(process.pager.prepare_fork([&](std::uint64_t slot) {
    copy.copy_from(process.store, slot);
    return true;
  }));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    for (std::uint64_t slot = 1; slot <= kSlots; ++slot) process.store.copy_from(copy, slot);
    process.memory.forget_watches();
    EXPECT_TRUE(process.pager.begin_in_child());
    chaos.check();
    chaos.run(5'000);
    process.store.refuses_writes = false;
    chaos.check();
    _exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  process.pager.after_fork();
  chaos.run(5'000);
  process.store.refuses_writes = false;
  chaos.check();
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// Each has pages of its own, and all read some that none writes, while some is mapped and unmapped.
TEST(Pager, ServesThreadsAtOnce) {
  constexpr unsigned kThreads = 4;
  constexpr std::uint64_t kEach = 512;
  Process process(8192, 5, 0);
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
            const auto drop = [&] {
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

}  // namespace
}  // namespace nvmemu
