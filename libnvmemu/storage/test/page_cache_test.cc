// SPDX-License-Identifier: Apache-2.0
#include "storage/page_cache.h"

#include <gtest/gtest.h>

#include <list>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace nvmemu {
namespace {

class PageCacheTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kPages = 8, kFiles = 4;

  PageCache make(std::uint32_t pages, std::uint32_t files) {
    memory_.assign(PageCache::bytes_for(pages, files) / sizeof(std::uint64_t) + 1, 0);
    return {memory_.data(), pages, files};
  }
  PageCache::File file(std::uint64_t inode) { return cache_.find_or_add({1, inode}); }

  std::vector<std::uint64_t> memory_;
  PageCache cache_ = make(kPages, kFiles);
};

TEST_F(PageCacheTest, HoldsWhatItWasGiven) {
  const PageCache::File a = file(1);
  EXPECT_FALSE(cache_.touch(a, 7));
  cache_.add(a, 7);
  EXPECT_TRUE(cache_.touch(a, 7));
  EXPECT_FALSE(cache_.touch(file(2), 7));
  EXPECT_EQ(file(1), a);
}

TEST_F(PageCacheTest, TheLeastRecentlyUsedPageGoes) {
  const PageCache::File a = file(1);
  for (std::uint32_t i = 0; i < kPages; ++i) EXPECT_EQ(cache_.add(a, i).file, 0U);
  cache_.touch(a, 0);
  cache_.make_dirty(a, 1);
  const PageCache::Evicted evicted = cache_.add(a, 100);
  EXPECT_EQ(evicted.page, 1U);
  EXPECT_TRUE(evicted.is_dirty);
  EXPECT_EQ(cache_.dirty_pages(), 0U);
  EXPECT_TRUE(cache_.touch(a, 0));
}

TEST_F(PageCacheTest, TheLeastRecentlyUsedFileGoesWithItsPages) {
  for (std::uint64_t inode = 1; inode <= kFiles; ++inode) cache_.add(file(inode), 0);
  file(1);
  file(9);
  EXPECT_EQ(cache_.find({1, 2}), 0U);
  EXPECT_NE(cache_.find({1, 1}), 0U);
  EXPECT_FALSE(cache_.touch(file(9), 0));
}

TEST_F(PageCacheTest, DirtyPagesAreCleanedInOrderSideBySide) {
  const PageCache::File a = file(1), b = file(2);
  for (const std::uint32_t page : {4U, 5U, 6U, 2U}) {
    cache_.add(a, page);
    cache_.make_dirty(a, page);
  }
  cache_.add(b, 0);
  cache_.make_dirty(b, 0);
  PageCache::Run run = cache_.clean_oldest(2);
  EXPECT_EQ(run.file, a);
  EXPECT_EQ(run.first, 4U);
  EXPECT_EQ(run.pages, 2U);
  run = cache_.clean_next(a, 10);
  EXPECT_EQ(run.first, 6U);
  EXPECT_EQ(run.pages, 1U);
  EXPECT_EQ(cache_.clean_next(a, 10).first, 2U);
  EXPECT_EQ(cache_.clean_next(a, 10).pages, 0U);
  EXPECT_EQ(cache_.clean_oldest(10).file, b);
  EXPECT_EQ(cache_.clean_oldest(10).pages, 0U);
  EXPECT_TRUE(cache_.touch(a, 4));
}

TEST_F(PageCacheTest, AFileThatIsCutShortLosesItsEnd) {
  const PageCache::File a = file(1);
  for (std::uint32_t i = 0; i < 4; ++i) {
    cache_.add(a, i);
    cache_.make_dirty(a, i);
  }
  cache_.drop(a, 2);
  EXPECT_TRUE(cache_.touch(a, 1));
  EXPECT_FALSE(cache_.touch(a, 2));
  EXPECT_EQ(cache_.dirty_pages(), 2U);
  cache_.forget(a);
  EXPECT_EQ(cache_.dirty_pages(), 0U);
  EXPECT_EQ(cache_.find({1, 1}), 0U);
}

TEST_F(PageCacheTest, AFileWithoutANameStaysUntilThereIsNoRoom) {
  const PageCache::File named = file(1), removed = file(2);
  for (std::uint32_t i = 0; i < kPages / 2; ++i) {
    cache_.add(named, i);
    cache_.add(removed, i);
    cache_.make_dirty(removed, i);
  }
  cache_.retire(removed);
  EXPECT_EQ(cache_.dirty_pages(), 0U) << "nobody can read what would be written";
  for (std::uint32_t i = 0; i < kPages / 2; ++i) EXPECT_EQ(cache_.add(named, 100 + i).file, removed);
  EXPECT_FALSE(cache_.touch(removed, 0));
  EXPECT_TRUE(cache_.touch(named, 0));
  EXPECT_EQ(file(2), removed) << "who has it open still uses it";
}

TEST_F(PageCacheTest, AnotherFileOfTheSameNumberHasNothingOfIt) {
  const PageCache::File a = file(1);
  cache_.add(a, 0);
  cache_.renew(a);
  EXPECT_TRUE(cache_.touch(a, 0)) << "it has its name still";
  cache_.retire(a);
  EXPECT_TRUE(cache_.touch(a, 0));
  cache_.renew(a);
  EXPECT_FALSE(cache_.touch(a, 0));
  cache_.add(a, 0);
  cache_.renew(a);
  EXPECT_TRUE(cache_.touch(a, 0));
}

TEST_F(PageCacheTest, DropsARangeAndWhatIsCleanAlone) {
  const PageCache::File a = file(1);
  for (std::uint32_t i = 0; i < 4; ++i) cache_.add(a, i);
  cache_.make_dirty(a, 1);
  cache_.drop(a, 1, 3, PageCache::Drops::kClean);
  EXPECT_TRUE(cache_.touch(a, 1));
  EXPECT_FALSE(cache_.touch(a, 2));
  EXPECT_TRUE(cache_.touch(a, 3));
  cache_.drop(a, 1, 2);
  EXPECT_FALSE(cache_.touch(a, 1));
  EXPECT_EQ(cache_.dirty_pages(), 0U);
}

TEST_F(PageCacheTest, ClearedItHoldsNothing) {
  cache_.add(file(1), 0);
  cache_.make_dirty(file(1), 0);
  cache_.clear();
  EXPECT_EQ(cache_.find({1, 1}), 0U);
  EXPECT_EQ(cache_.dirty_pages(), 0U);
  EXPECT_FALSE(cache_.touch(file(1), 0));
}

TEST_F(PageCacheTest, WithoutRoomItHoldsNothing) {
  cache_ = make(0, kFiles);
  const PageCache::File a = file(1);
  cache_.add(a, 0);
  cache_.make_dirty(a, 0);
  EXPECT_FALSE(cache_.touch(a, 0));
  EXPECT_EQ(cache_.dirty_pages(), 0U);
}

// A plain model of the same, step by step.
struct Plain {
  using Key = std::pair<PageCache::File, std::uint32_t>;
  std::list<Key> by_use;  // newest first
  std::map<Key, bool> dirty;
  std::set<Key> seen;

  bool touch(Key key) {
    if (dirty.count(key) == 0) return false;
    by_use.remove(key);
    by_use.push_front(key);
    seen.erase(key);
    return true;
  }
  bool glance(PageCache::File file, std::uint32_t end) {
    for (std::uint32_t page = 0; page < end; ++page) {
      if (dirty.count({file, page}) == 0) return false;
      seen.insert({file, page});
    }
    return true;
  }
  Key oldest() {
    while (seen.erase(by_use.back()) != 0) by_use.splice(by_use.begin(), by_use, std::prev(by_use.end()));
    return by_use.back();
  }
  void drop(PageCache::File file, std::uint32_t from, std::uint32_t end) {
    const auto goes = [&](const Key& key) {
      return key.first == file && key.second >= from && key.second < end;
    };
    std::erase_if(dirty, [&](const auto& one) { return goes(one.first); });
    std::erase_if(seen, goes);
    by_use.remove_if(goes);
  }
};

TEST_F(PageCacheTest, DoesWhatAPlainModelDoes) {
  constexpr std::uint32_t kMost = 64;
  cache_ = make(kMost, 16);
  constexpr std::uint32_t kPagesOfFile = 10;  // 8 such files do not fit as a whole
  Plain plain;
  int whole = 0;
  std::mt19937 random(1);
  for (int step = 0; step < 200'000; ++step) {
    const PageCache::File a = file(1 + random() % 8);
    const auto page = static_cast<std::uint32_t>(random() % kPagesOfFile);
    switch (random() % 8) {
      case 0: {
        const std::uint32_t end = random() % 4 == 0 ? page + 1 : PageCache::kNoEnd;
        if (random() % 4 != 0) break;  // seldom enough that files are there as a whole
        cache_.drop(a, page, end);
        plain.drop(a, page, end);
        break;
      }
      case 1: {
        const PageCache::Run run = cache_.clean_oldest(8);
        for (std::uint32_t i = 0; i < run.pages; ++i) {
          ASSERT_TRUE((plain.dirty[{run.file, run.first + i}]));
          plain.dirty[{run.file, run.first + i}] = false;
        }
        break;
      }
      case 2:
      case 3: {
        const std::uint32_t end = 1 + page % kPagesOfFile;
        const bool is_there = cache_.glance(a, 0, end);
        ASSERT_EQ(is_there, plain.glance(a, end));
        whole += is_there && cache_.file(a).has_all_from_first() && end == cache_.file(a).pages ? 1 : 0;
        break;
      }
      default: {
        const bool is_there = cache_.touch(a, page);
        ASSERT_EQ(is_there, plain.touch({a, page}));
        if (!is_there) {
          const PageCache::Evicted evicted = cache_.add(a, page);
          if (plain.by_use.size() == kMost) {
            const Plain::Key oldest = plain.oldest();
            ASSERT_EQ(evicted.file, oldest.first);
            ASSERT_EQ(evicted.page, oldest.second);
            ASSERT_EQ(evicted.is_dirty, plain.dirty[oldest]);
            plain.dirty.erase(oldest);
            plain.by_use.pop_back();
          }
          plain.by_use.push_front({a, page});
          plain.dirty[{a, page}] = false;
        }
        if (random() % 2 == 0) {
          cache_.make_dirty(a, page);
          plain.dirty[{a, page}] = true;
        }
      }
    }
    std::uint32_t dirty = 0;
    for (const auto& one : plain.dirty) dirty += one.second ? 1 : 0;
    ASSERT_EQ(cache_.dirty_pages(), dirty);
  }
  EXPECT_GT(whole, 1000) << "glances at files that are there as a whole";
}

TEST_F(PageCacheTest, AFileSeenAsAWholeGetsASecondChanceAsAWhole) {
  const PageCache::File a = file(1), b = file(2);
  for (std::uint32_t i = 0; i < 4; ++i) cache_.add(a, i);
  for (std::uint32_t i = 0; i < 4; ++i) cache_.add(b, i);
  EXPECT_TRUE(cache_.glance(a, 0, 4));
  cache_.add(file(3), 0);
  EXPECT_TRUE(cache_.glance(a, 0, 4)) << "b's has gone";
  EXPECT_FALSE(cache_.glance(b, 0, 4));
}

// A page behind its end is none of those in a row.
TEST_F(PageCacheTest, ManyPagesAreNotAllPages) {
  const PageCache::File a = file(1);
  for (const std::uint32_t page : {0U, 1U, 3U}) cache_.add(a, page);
  EXPECT_FALSE(cache_.glance(a, 0, 3));
  cache_.add(a, 2);
  EXPECT_TRUE(cache_.glance(a, 0, 4));
  cache_.drop(a, 1, 2);
  EXPECT_FALSE(cache_.glance(a, 0, 3));
}

// Where it is shared, each place that is new to a process takes a page fault.
TEST_F(PageCacheTest, PagesSideBySideAreInFewPlaces) {
  PageCache large = make(1 << 16, 64);
  const PageCache::File a = large.find_or_add({1, 1});
  std::vector<std::uint64_t> before = memory_;
  for (std::uint32_t page = 64; page < 80; ++page) large.add(a, page);
  constexpr std::size_t kWords = 4096 / sizeof(std::uint64_t);
  std::set<std::size_t> places;
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    if (memory_[i] != before[i]) places.insert(i / kWords);
  }
  EXPECT_LE(places.size(), 5U) << "the head and the file, the pages, where they are found";
}

// Whatever is written over it: nothing outside is touched, and every call ends.
TEST_F(PageCacheTest, SpoiltItStaysWithinItsMemory) {
  constexpr std::uint32_t kMost = 32;
  constexpr std::uint64_t kGuard = 0x5a5a5a5a5a5a5a5a;
  std::mt19937 random(2);
  for (int round = 0; round < 300; ++round) {
    const std::size_t words = PageCache::bytes_for(kMost, 8) / sizeof(std::uint64_t);
    std::vector<std::uint64_t> memory(words + 64, 0);
    std::fill(memory.begin() + static_cast<std::ptrdiff_t>(words) + 1, memory.end(), kGuard);
    PageCache cache(memory.data(), kMost, 8);
    for (int step = 0; step < 300; ++step) {
      const PageCache::File a = cache.find_or_add({1, random() % 12});
      const std::uint32_t page = random() % 64;
      if (!cache.touch(a, page)) cache.add(a, page);
      if (random() % 2 == 0) cache.make_dirty(a, page);
      if (random() % 8 == 0) cache.glance(a, 0, page);
      if (random() % 16 == 0) cache.clean_oldest(4);
      if (random() % 16 == 0) cache.drop(a, page);
      if (random() % 32 == 0) cache.forget(a);
      if (random() % 32 == 0) cache.retire(a);
      if (random() % 32 == 0) cache.renew(a);
      if (random() % 64 == 0) cache.forget_changes();
      if (step > 100) memory[random() % words] = std::uint64_t{random()} << 32 | random();
    }
    for (std::size_t i = words + 1; i < memory.size(); ++i) ASSERT_EQ(memory[i], kGuard);
  }
}

}  // namespace
}  // namespace nvmemu
