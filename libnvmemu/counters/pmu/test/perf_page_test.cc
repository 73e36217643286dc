// SPDX-License-Identifier: Apache-2.0
// The protocol of user-space reads on pages that stand for the kernel's.
#include "counters/pmu/perf_page.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <functional>
#include <thread>

namespace nvmemu {
namespace {

// A processor whose counters hold what the test says.
struct FakeRegisters {
  std::function<std::uint64_t(std::uint32_t)> counters = [](std::uint32_t) -> std::uint64_t {
    ADD_FAILURE() << "a counter was read that the kernel did not allow: this raises SIGSEGV";
    return 0;
  };
  std::uint64_t ticks = 0;

  std::uint64_t counter(std::uint32_t number) const { return counters(number); }
  std::uint64_t time() const { return ticks; }
};

FakeRegisters holding(std::uint64_t value) {
  FakeRegisters registers;
  registers.counters = [value](std::uint32_t) { return value; };
  return registers;
}

perf_event_mmap_page page_on_counter(std::uint32_t index, std::int64_t offset, std::uint16_t width) {
  perf_event_mmap_page page{};
  page.cap_user_rdpmc = 1;
  page.index = index;
  page.offset = offset;
  page.pmc_width = width;
  return page;
}

TEST(ReadPage, AddsTheCounterToTheOffset) {
  FakeRegisters registers;
  registers.counters = [](std::uint32_t number) { return number == 2 ? 34U : 0U; };
  const auto page = page_on_counter(3, 1000, 48);
  EXPECT_EQ(read_page(page, registers)->count, 1034U);
}

TEST(ReadPage, OffItsCounterTheOffsetIsAll) {
  const auto page = page_on_counter(0, 1000, 48);
  EXPECT_FALSE(is_read_in_user_space(page));
  EXPECT_EQ(read_page(page, FakeRegisters{})->count, 1000U);
}

TEST(ReadPage, WithoutLeaveTheOffsetIsAll) {
  auto page = page_on_counter(3, 1000, 48);
  page.cap_user_rdpmc = 0;
  EXPECT_FALSE(is_read_in_user_space(page));
  EXPECT_EQ(read_page(page, FakeRegisters{})->count, 1000U);
}

// The kernel starts a counter at -period: until it overflows it holds a negative number of its own width.
TEST(ReadPage, ExtendsTheCountersSign) {
  constexpr std::uint64_t kMinusFive48 = (std::uint64_t{1} << 48) - 5;
  EXPECT_EQ(read_page(page_on_counter(1, 100, 48), holding(kMinusFive48))->count, 95U);
  EXPECT_EQ(read_page(page_on_counter(1, 100, 32), holding(0xfffffffb))->count, 95U);
  EXPECT_EQ(read_page(page_on_counter(1, 100, 64), holding(~std::uint64_t{4}))->count, 95U);
}

// At an overflow the kernel takes what has been counted into the offset, and starts anew from -period.
TEST(ReadPage, GoesOnOverAWrap) {
  constexpr std::int64_t kPeriod = 0x7fffffff;
  const auto before = read_page(page_on_counter(1, kPeriod, 32), holding(0xffffffff));
  const auto after = read_page(page_on_counter(1, 2 * kPeriod, 32), holding(0x80000001 + 5));
  EXPECT_EQ(after->count - before->count, 6U);
}

TEST(ReadPage, IgnoresBitsBeyondTheCountersWidth) {
  EXPECT_EQ(read_page(page_on_counter(1, 0, 40), holding(std::uint64_t{7} << 40 | 9))->count, 9U);
}

// 3 GHz: a tick is 1/3 ns, so mult = 2^20 / 3.
TEST(ReadPage, BringsTimesUpToDate) {
  auto page = page_on_counter(1, 0, 48);
  page.cap_user_time = 1;
  page.time_shift = 20;
  page.time_mult = (1U << 20) / 3;
  page.time_offset = static_cast<std::uint64_t>(-900);
  page.time_enabled = 5000;
  page.time_running = 2000;
  FakeRegisters registers = holding(0);
  registers.ticks = 3000;
  const auto reading = read_page(page, registers);
  EXPECT_NEAR(static_cast<double>(reading->enabled_ns), 5100, 1);
  EXPECT_NEAR(static_cast<double>(reading->running_ns), 2100, 1);
  page.index = 0;
  EXPECT_EQ(read_page(page, registers)->running_ns, 2000U) << "an event off its counter does not run";
}

TEST(ReadPage, ExtendsAShortClock) {
  auto page = page_on_counter(1, 0, 48);
  page.cap_user_time = 1;
  page.cap_user_time_short = 1;
  page.time_mult = 1;
  page.time_cycles = 0x1fffffff0;
  page.time_mask = 0xffffffff;
  FakeRegisters registers = holding(0);
  registers.ticks = 0x10;  // the clock has wrapped since
  EXPECT_EQ(read_page(page, registers)->enabled_ns, 0x200000010U);
}

TEST(ReadPage, GivesUpOnAPageThatNeverRests) {
  auto page = page_on_counter(1, 0, 48);
  page.lock = 1;
  EXPECT_EQ(read_page(page, holding(0)), std::nullopt);
}

TEST(ReadPage, StartsAgainWhenThePageChangesMeanwhile) {
  auto page = page_on_counter(1, 0, 48);
  int reads = 0;
  FakeRegisters registers;
  registers.counters = [&](std::uint32_t) -> std::uint64_t {
    if (++reads == 1) {  // an interrupt: the thread was descheduled, and came back on another counter
      page.lock += 2;
      page.offset = 500;
      return 7;
    }
    return 1;
  };
  EXPECT_EQ(read_page(page, registers)->count, 501U);
  EXPECT_EQ(reads, 2);
}

// A page in shared memory, and a kernel on another processor that never stops changing it. What it writes
// adds up to the same count at every moment that it lets be seen.
TEST(ReadPage, NeverSeesHalfAChange) {
  const int fd = memfd_create("perf-page", MFD_CLOEXEC);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(ftruncate(fd, sizeof(perf_event_mmap_page)), 0);
  void* mapped = mmap(nullptr, sizeof(perf_event_mmap_page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  ASSERT_NE(mapped, MAP_FAILED);
  auto& page = *static_cast<perf_event_mmap_page*>(mapped);
  page.cap_user_rdpmc = 1;
  page.index = 1;
  page.pmc_width = 64;
  constexpr std::uint64_t kSum = 1000000;
  std::atomic<std::uint64_t> counter{kSum};
  std::atomic<bool> done{false};
  std::atomic<int> changes{0};
  std::thread kernel([&] {
    const auto store = [](auto& field, auto value) {
      std::atomic_ref(field).store(value, std::memory_order_relaxed);
    };
    for (std::uint64_t turn = 0; !done.load(std::memory_order_relaxed); ++turn) {
      std::atomic_ref(page.lock).fetch_add(1, std::memory_order_relaxed);
      std::atomic_thread_fence(std::memory_order_release);
      store(page.offset, static_cast<__s64>(turn));
      counter.store(kSum - turn, std::memory_order_relaxed);
      std::atomic_ref(page.lock).fetch_add(1, std::memory_order_release);
      changes.fetch_add(1, std::memory_order_relaxed);
      for (int rest = 0; rest < 100; ++rest) asm volatile("");
    }
  });
  FakeRegisters registers;
  registers.counters = [&counter](std::uint32_t) {
    for (int pause = 0; pause < 30; ++pause) asm volatile("");  // room for a change
    return counter.load(std::memory_order_relaxed);
  };
  // Until both have had their turns, however the machine runs them.
  for (int complete = 0; complete < 2000 || changes.load(std::memory_order_relaxed) < 2000;) {
    const auto reading = read_page(page, registers);
    if (!reading) continue;  // the writer lost its processor amid a change
    ++complete;
    EXPECT_EQ(reading->count, kSum);
    if (HasFailure()) break;
  }
  done = true;
  kernel.join();
  munmap(mapped, sizeof(perf_event_mmap_page));
}

}  // namespace
}  // namespace nvmemu
