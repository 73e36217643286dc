// SPDX-License-Identifier: Apache-2.0
// Threads that share pages, while one of them maps, gives up, moves and forks: no page goes back in time.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <random>
#include <thread>
#include <tuple>
#include <vector>

#include "simulated_process.h"
#include "simulated_server.h"

namespace nvmemu {
namespace {

using simulated::kBase;
using simulated::pages;
using simulated::Process;
using simulated::Server;

constexpr std::uint64_t kShared = 1024;  // four times what may be in DRAM
constexpr unsigned kSharers = 3;         // that share them, and one more

// Pages of even numbers are counters that all increase; those of odd ones are the changer's, whom all others
// watch: it numbers what it does to a page, and writes the number, or gives the page up. Beside them lies
// what it moves.
class Sharing {
 public:
  explicit Sharing(Process& process) : process_(process) {
    EXPECT_TRUE(process_.pager.add(pages(0, kShared)));
  }

  void run(unsigned steps) {
    process_.is_mapped_anew = true;
    std::vector<std::thread> threads;
    for (unsigned number = 0; number < kSharers; ++number)
      threads.emplace_back([this, number, steps] { use(number + 1, steps); });
    change(steps);
    for (std::thread& thread : threads) thread.join();
    process_.is_mapped_anew = false;
  }
  // Nobody does anything any more.
  void check() {
    for (std::uint64_t page = 0; page < kShared; ++page) {
      if (page % 2 == 0) {
        EXPECT_EQ(process_.load(page), known_[page]) << page;
      } else {
        watch(page);
      }
    }
  }

 private:
  static constexpr std::uint64_t kGivenUp = 1;  // in the number of what was done to a page

  void use(unsigned seed, unsigned steps) {
    std::minstd_rand random(seed);
    for (unsigned step = 0; step < steps && !::testing::Test::HasFailure(); ++step) {
      const std::uint64_t page = random() % kShared;
      if (page % 2 != 0) {
        watch(page);
      } else if (random() % 2 == 0) {
        const std::uint64_t known = known_[page];
        EXPECT_GE(process_.load(page), known) << page;
      } else if (random() % 4 == 0) {
        increase_as_the_kernel(page);
      } else {
        increase(page);
      }
    }
  }
  void note(std::uint64_t page, std::uint64_t value) {
    for (std::uint64_t known = known_[page];
         known < value && !known_[page].compare_exchange_weak(known, value);) {
    }
  }
  void increase(std::uint64_t page) {
    const std::uint64_t known = known_[page];
    std::uint64_t value = 0;
    for (int tries = 0; !process_.memory.increase(kBase + page, value); ++tries) {
      ASSERT_LT(tries, 1000);
      ASSERT_TRUE(process_.is_as_it_may(process_.fault((kBase + page) * kPageBytes, true)));
    }
    EXPECT_GT(value, known) << page;
    note(page, value);
  }
  // With several others', which overlap those of other threads.
  void increase_as_the_kernel(std::uint64_t page) {
    const AddressRange range = pages(page, std::min<std::uint64_t>(4, kShared - page));
    if (!process_.pager.pin(range, true)) {
      EXPECT_NE(process_.memory.fails_one_in, 0U);
      return;
    }
    std::this_thread::yield();
    const std::uint64_t known = known_[page];
    std::uint64_t value = 0;
    EXPECT_TRUE(process_.memory.increase(kBase + page, value)) << page << " is pinned";
    EXPECT_GT(value, known) << page;
    note(page, value);
    process_.pager.unpin(range);
  }
  // It is what was last done, or something that was begun since.
  void watch(std::uint64_t page) {
    const std::uint64_t done = done_[page];
    const std::uint64_t value = process_.load(page);
    const std::uint64_t begun = begun_[page];
    if (value != 0) {
      EXPECT_GE(value, done) << page << " is what it was before";
      EXPECT_LE(value, begun) << page;
    } else if (done == begun && done != 0) {
      EXPECT_EQ(done % 2, kGivenUp) << page << " is lost";
    }
  }

  void change(unsigned steps) {
    std::minstd_rand random(9);
    for (unsigned step = 0; step < steps && !::testing::Test::HasFailure(); ++step) {
      const std::uint64_t page = (random() % kShared) | 1;
      switch (random() % 16) {
        case 0:
          give_up(page);
          break;
        case 1:
          map_anew(page);
          break;
        case 2:
          move_own(random);
          break;
        case 3:
          if (random() % 8 == 0) fork();
          break;
        case 4:
          process_.pager.undisturbed([] { return 0L; });
          break;
        default:
          const std::uint64_t number = begun_[page] = (done_[page] / 2 + 1) * 2;
          process_.save(page, number);
          done_[page] = number;
      }
    }
  }
  void give_up(std::uint64_t page) {
    const std::uint64_t number = begun_[page] = (done_[page] / 2 + 1) * 2 + kGivenUp;
    process_.pager.discard(pages(page, 1), [&](AddressRange part, bool) {
      process_.memory.discard(part.begin / kPageBytes, part.end / kPageBytes);
      return 0L;
    });
    done_[page] = number;
  }
  void map_anew(std::uint64_t page) {
    const std::uint64_t number = begun_[page] = (done_[page] / 2 + 1) * 2 + kGivenUp;
    process_.pager.unmap(pages(page, 1), [&] {
      process_.memory.unmap(kBase + page, kBase + page + 1);
      return 0L;
    });
    EXPECT_TRUE(process_.pager.add(pages(page, 1)) || process_.memory.fails_one_in != 0);
    done_[page] = number;
  }
  // Onto what was there, and from where nothing is then.
  void move_own(std::minstd_rand& random) {
    constexpr std::uint64_t kCount = 16;
    const std::uint64_t from = kShared + own_at_, to = kShared + (own_at_ ^ kCount);
    if (!process_.pager.is_paged((kBase + from) * kPageBytes) && !process_.pager.add(pages(from, kCount)))
      return;
    if (!process_.pager.is_paged((kBase + to) * kPageBytes) && !process_.pager.add(pages(to, kCount))) return;
    process_.save(from + random() % kCount, 3);
    process_.save(to + random() % kCount, 4);
    std::array<std::uint64_t, kCount> values;
    for (std::uint64_t i = 0; i < kCount; ++i) values[i] = process_.load(from + i);
    process_.pager.move({.from = pages(from, kCount),
                         .target = pages(to, kCount),
                         .new_bytes = kCount * kPageBytes,
                         .may_move = true},
                        [&] {
                          process_.memory.move(kBase + from, kBase + to, kCount);
                          return static_cast<long>((kBase + to) * kPageBytes);
                        });
    for (std::uint64_t i = 0; i < kCount; ++i) EXPECT_EQ(process_.load(to + i), values[i]);
    own_at_ ^= kCount;
  }
  void fork() {
    process_.pager.prepare_fork([](const Slots&, std::byte*) { return true; });
    process_.pager.after_fork();
  }

  Process& process_;
  std::array<std::atomic<std::uint64_t>, kShared> known_{};           // that somebody has seen, of a counter
  std::array<std::atomic<std::uint64_t>, kShared> begun_{}, done_{};  // of the changer's, by number
  std::uint64_t own_at_ = 0;
};

using SharingParameters =
    std::tuple<ReadAheadKind, LayoutKind, unsigned>;  // the last: one call in so many fails
class PagerShared : public ::testing::TestWithParam<SharingParameters> {
 protected:
  static simulated::ProcessOptions options() {
    return {.store_pages = 4 * kShared,
            .shared_one_in = 5,
            .choices = {.layout = std::get<1>(GetParam()), .read_ahead = std::get<0>(GetParam())}};
  }
  static void run(Process& process) {
    process.store.yields = 2;
    Sharing sharing(process);
    process.memory.fails_one_in = std::get<2>(GetParam());
    sharing.run(3'000);
    process.memory.fails_one_in = 0;
    sharing.check();
  }
};
INSTANTIATE_TEST_SUITE_P(Kinds, PagerShared,
                         ::testing::Combine(::testing::Values(ReadAheadKind::kNone, ReadAheadKind::kWindow),
                                            ::testing::Values(LayoutKind::kLog, LayoutKind::kInPlace),
                                            ::testing::Values(0U, 8U)));

TEST_P(PagerShared, PagesDoNotGoBackInTime) {
  Process process(options());
  run(process);
}

TEST_P(PagerShared, PagesDoNotGoBackInTimeServedByAnother) {
  Process process(options());
  Server server(process.pager, process.clock);
  process.ask = [&server](std::uintptr_t address, bool write) { return server.fault(address, write); };
  run(process);
}

}  // namespace
}  // namespace nvmemu
