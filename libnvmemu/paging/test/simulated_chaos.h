// SPDX-License-Identifier: Apache-2.0
// What a program may do to its memory, in any order, by a seed; and what it must read after each step.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <unordered_map>
#include <utility>

#include "simulated_process.h"

namespace nvmemu::simulated {

// After each step what the program reads is what it last wrote.
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
          let_time_pass();
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
        case 8:
          scan();
          break;
        case 9:
          resize();
          break;
        default:
          access();
      }
    }
  }
  // So that a child does not do what its parent does.
  void reseed(unsigned seed) { random_.seed(seed); }
  // What could not be written is tried again.
  void let_time_pass() { process_.clock.wait_until_ns(process_.clock.now_ns() + 1'000'000'000); }
  // Nothing that there is is zeros any more.
  void write_all() {
    for (auto& [page, value] : values_) process_.save(page, value = ++last_);
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
    const bool is_paged = process_.pager.add(pages(piece.first, piece.count));
    ASSERT_TRUE(is_paged || fails());
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
    process_.pager.discard(pages(piece.first, piece.count), [&](AddressRange part, bool) {
      process_.memory.discard(part.begin / kPageBytes, part.end / kPageBytes);
      return 0L;
    });
    for (std::uint64_t i = 0; i < piece.count; ++i) {
      if (const auto found = values_.find(piece.first + i); found != values_.end()) found->second = 0;
    }
  }
  void move() {
    const Piece from = some_piece();
    const std::uint64_t to = kSpan + random_() % kSpan;  // beyond, and back where the next one maps
    for (std::uint64_t i = 0; i < from.count; ++i) {
      if (!values_.contains(from.first + i)) return;  // the kernel moves what is mapped
    }
    if (random_() % 4 == 0) return fail_to_move(from, to);
    process_.pager.move({.from = pages(from.first, from.count),
                         .target = random_() % 2 == 0 ? pages(to, from.count) : AddressRange{},
                         .new_bytes = from.count * kPageBytes,
                         .may_move = true},
                        [&] {
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
  // What was to be replaced may be gone then.
  void fail_to_move(Piece from, std::uint64_t to) {
    const bool unmaps = random_() % 2 == 0;
    process_.pager.move({.from = pages(from.first, from.count),
                         .target = pages(to, from.count),
                         .new_bytes = from.count * kPageBytes,
                         .may_move = true},
                        [&] {
                          if (unmaps) process_.memory.unmap(kBase + to, kBase + to + from.count);
                          return static_cast<long>(-ENOMEM);
                        });
    for (std::uint64_t i = 0; unmaps && i < from.count; ++i) values_.erase(to + i);
  }
  // Where it is: nobody else may come to miss it meanwhile.
  void resize() {
    const Piece piece = some_piece();
    const std::uint64_t now = 1 + random_() % (2 * piece.count);
    for (std::uint64_t i = 0; i < std::max(piece.count, now); ++i) {
      if (values_.contains(piece.first + i) != (i < piece.count)) return;
    }
    const std::uint64_t before_end = kBase + piece.first + piece.count, end = kBase + piece.first + now;
    process_.pager.move({.from = pages(piece.first, piece.count),
                         .new_bytes = now * kPageBytes,
                         .may_move = now > piece.count && random_() % 2 == 0},
                        [&] {
                          if (now < piece.count) process_.memory.shorten(before_end, end);
                          if (now > piece.count) process_.memory.lengthen(before_end, end);
                          return static_cast<long>((kBase + piece.first) * kPageBytes);
                        });
    for (std::uint64_t i = now; i < piece.count; ++i) values_.erase(piece.first + i);
    for (std::uint64_t i = piece.count; i < now; ++i) values_[piece.first + i] = 0;
  }
  bool fails() const { return process_.memory.fails_one_in != 0 || process_.store.reads_fail_one_in != 0; }
  // All of them, or that of one slot, which may be another's.
  void fail_a_read() {
    if (random_() % 2 == 0) {
      process_.store.refuses_reads = true;
    } else {
      process_.store.unreadable = 1 + random_() % 256;
    }
    process_.fault((kBase + some_page()) * kPageBytes, random_() % 2 == 0);
    process_.store.refuses_reads = false;
    process_.store.unreadable = 0;
  }
  // Pages in a row, as programs read them.
  void scan() {
    const Piece piece = some_piece();
    for (std::uint64_t page = piece.first; page < piece.first + piece.count; ++page) {
      const auto found = values_.find(page);
      if (found == values_.end()) continue;
      ASSERT_EQ(process_.load(page), found->second) << "page " << page;
    }
  }
  void kernel_writes() {
    const std::uint64_t page = some_page();
    const auto found = values_.find(page);
    if (found == values_.end()) return;
    const bool is_paged = process_.pager.is_paged((kBase + page) * kPageBytes);
    if (!process_.pager.pin(pages(page, 1), true)) {
      ASSERT_TRUE(fails() || !is_paged);
      return;
    }
    found->second = ++last_;
    EXPECT_TRUE(process_.memory.store(kBase + page, found->second));
    process_.pager.unpin(pages(page, 1));
  }
  void release() {
    const Piece piece = some_piece();
    AddressRange range = pages(piece.first, piece.count);
    range.begin += random_() % kPageBytes;  // as where a stack lies
    range.end -= random_() % kPageBytes;
    const bool is_released = process_.pager.release(range);
    ASSERT_TRUE(is_released || fails());
  }

  Process& process_;
  std::mt19937 random_;
  std::unordered_map<std::uint64_t, std::uint64_t> values_;
  std::uint64_t last_ = 0;
};

}  // namespace nvmemu::simulated
