// SPDX-License-Identifier: Apache-2.0
// Groups on the real kernel, with breakpoints on stores for counters: they are in every machine, hardware
// counters or none, and count exactly.
#include "counters/pmu/event_group.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/hw_breakpoint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <thread>
#include <vector>

#include "counters/pmu/group_delta.h"
#include "host/test/needs.h"

namespace nvmemu {
namespace {

alignas(8) volatile std::uint64_t first_word, second_word;

perf_event_attr stores_to(const volatile std::uint64_t& word) {
  perf_event_attr event = user_event(PERF_TYPE_BREAKPOINT, 0);
  event.bp_type = HW_BREAKPOINT_W;
  event.bp_addr = reinterpret_cast<std::uintptr_t>(&word);
  event.bp_len = HW_BREAKPOINT_LEN_8;
  return event;
}

// By several threads at once.
void store(volatile std::uint64_t& word, int times) {
  for (int i = 0; i < times; ++i) __atomic_store_n(&word, static_cast<std::uint64_t>(i), __ATOMIC_RELAXED);
}

std::uint64_t lowest_free_descriptor() {
  const int fd = dup(STDERR_FILENO);
  close(fd);
  return static_cast<std::uint64_t>(fd);
}

class BreakpointGroup : public testing::Test {
 protected:
  void SetUp() override {
    NVMEMU_NEEDS_WATCHPOINTS();
    const OpenFailure failure = group_.open(gettid(), events_);
    ASSERT_EQ(failure.refusal, CounterRefusal::kNone) << "errno " << failure.error;
    ASSERT_TRUE(group_.read(start_));
  }
  std::uint64_t counted(std::size_t event) {
    GroupReading now;
    EXPECT_TRUE(group_.read(now));
    return now.counts[event] - start_.counts[event];
  }

  const std::array<perf_event_attr, 2> events_{stores_to(first_word), stores_to(second_word)};
  EventGroup group_;
  GroupReading start_;
};

TEST_F(BreakpointGroup, CountsEachEventExactly) {
  store(first_word, 1000);
  store(second_word, 300);
  EXPECT_EQ(counted(0), 1000U);
  EXPECT_EQ(counted(1), 300U);
}

TEST_F(BreakpointGroup, ReadsByTheKernelWhereNoCounterCanBeRead) {
  EXPECT_FALSE(group_.reads_in_user_space());
  GroupReading now;
  ASSERT_TRUE(group_.read(now));
  EXPECT_GT(now.enabled_ns, 0U);
  EXPECT_EQ(now.enabled_ns, now.running_ns);
  EXPECT_EQ(between(start_, now).counted_share, 1);
}

TEST_F(BreakpointGroup, CountsItsThreadOnly) {
  std::thread([] { store(first_word, 500); }).join();
  EXPECT_EQ(counted(0), 0U) << "not inherited";
  store(first_word, 7);
  EXPECT_EQ(counted(0), 7U);
}

TEST_F(BreakpointGroup, IsOffWhenClosed) {
  group_.close();
  EXPECT_FALSE(group_.is_open());
  GroupReading reading = start_;
  EXPECT_FALSE(group_.read(reading));
  EXPECT_EQ(group_.open(gettid(), events_).refusal, CounterRefusal::kNone)
      << "debug registers are free again";
}

TEST_F(BreakpointGroup, StaysTheParentsAfterAFork) {
  const pid_t child = fork();
  if (child == 0) {
    group_.abandon();
    store(first_word, 50);
    _exit(group_.is_open() ? 1 : 0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  store(first_word, 3);
  EXPECT_EQ(counted(0), 3U);
}

// A program that closes all that it did not open itself, and then opens files.
TEST_F(BreakpointGroup, TouchesNoFileThatHasTakenItsDescriptorsNumber) {
  constexpr unsigned kOutOfTheWay = 900;
  ASSERT_EQ(syscall(SYS_close_range, kOutOfTheWay, ~0U, 0), 0);
  const int file = memfd_create("program's", MFD_CLOEXEC);
  ASSERT_EQ(write(file, "0123456789", 10), 10);
  ASSERT_EQ(lseek(file, 0, SEEK_SET), 0);
  const int taken = fcntl(file, F_DUPFD_CLOEXEC, kOutOfTheWay);
  GroupReading reading;
  EXPECT_FALSE(group_.read(reading));
  EXPECT_EQ(lseek(taken, 0, SEEK_CUR), 0) << "nothing was read of it";
  group_.close();
  EXPECT_GE(fcntl(taken, F_GETFD), 0) << "nor was it closed";
  close(taken);
  close(file);
}

TEST(EventGroup, EveryThreadHasItsOwn) {
  NVMEMU_NEEDS_WATCHPOINTS();
  const auto count = [](int stores, std::uint64_t& counted) {
    EventGroup group;
    const std::array events{stores_to(first_word)};
    ASSERT_EQ(group.open(gettid(), events).refusal, CounterRefusal::kNone);
    store(first_word, stores);
    GroupReading reading;
    if (group.read(reading)) counted = reading.counts[0];
  };
  std::array<std::uint64_t, 2> counted{};
  std::thread one(count, 1000, std::ref(counted[0]));
  std::thread other(count, 10, std::ref(counted[1]));
  one.join();
  other.join();
  EXPECT_EQ(counted[0], 1000U);
  EXPECT_EQ(counted[1], 10U);
}

TEST(EventGroup, CountsWithSoftwareEvents) {
  NVMEMU_NEEDS_PERF_EVENTS();
  EventGroup group;
  const std::array events{user_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY),
                          user_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN)};
  ASSERT_EQ(group.open(gettid(), events).refusal, CounterRefusal::kNone);
  constexpr std::size_t kPages = 20;
  auto* pages = static_cast<char*>(
      mmap(nullptr, kPages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  madvise(pages, kPages * 4096, MADV_NOHUGEPAGE);
  for (std::size_t page = 0; page < kPages; ++page) static_cast<volatile char*>(pages)[page * 4096] = 1;
  GroupReading reading;
  EXPECT_TRUE(group.read(reading));
  EXPECT_GE(reading.counts[1], kPages);
  munmap(pages, kPages * 4096);
}

TEST(EventGroup, LeavesTheLowDescriptorsToTheProgram) {
  NVMEMU_NEEDS_PERF_EVENTS();
  const auto before = lowest_free_descriptor();
  EventGroup group;
  const std::array events{user_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY)};
  ASSERT_EQ(group.open(gettid(), events).refusal, CounterRefusal::kNone);
  EXPECT_EQ(lowest_free_descriptor(), before);
}

TEST(EventGroup, TakesOneToEightEvents) {
  EventGroup group;
  EXPECT_EQ(group.open(gettid(), {}).refusal, CounterRefusal::kOther);
  const std::vector<perf_event_attr> nine(9, user_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY));
  EXPECT_EQ(group.open(gettid(), nine).refusal, CounterRefusal::kOther);
  EXPECT_FALSE(group.is_open());
}

// What a machine with counters gives: pages that can be read. Descriptors are not needed then.
long open_readable_page(const perf_event_attr& event, int, int) noexcept {
  const int fd = memfd_create("counter", MFD_CLOEXEC);
  if (ftruncate(fd, 4096) != 0) return -ENOMEM;
  perf_event_mmap_page page{};
  page.cap_user_rdpmc = 1;
  page.index = 1;
  page.pmc_width = 48;
  page.offset = static_cast<std::int64_t>(event.config);
  page.time_enabled = 400;
  page.time_running = 100;
  return pwrite(fd, &page, sizeof page, 0) == sizeof page ? fd : -EIO;
}

std::uint64_t always_two(std::uint32_t) noexcept { return 2; }

TEST(EventGroup, LivesByItsMappingsWhereUserSpaceReads) {
  NVMEMU_NEEDS_PERF_EVENTS();
  const auto before = lowest_free_descriptor();
  EventGroup group(open_readable_page, always_two);
  const std::array events{user_event(PERF_TYPE_RAW, 40), user_event(PERF_TYPE_RAW, 2)};
  ASSERT_EQ(group.open(gettid(), events).refusal, CounterRefusal::kNone);
  EXPECT_TRUE(group.reads_in_user_space());
  EXPECT_EQ(lowest_free_descriptor(), before);
  EXPECT_EQ(fcntl(900, F_GETFD), -1) << "none is kept";
  GroupReading reading;
  ASSERT_TRUE(group.read(reading));
  EXPECT_EQ(reading.counts[0], 42U);
  EXPECT_EQ(reading.counts[1], 4U);
  EXPECT_EQ(reading.running_ns, 100U);
}

// arm64 with kernel.perf_user_access=0: the page allows reads, and gives no number to read.
long open_page_without_number(const perf_event_attr& event, int tid, int group) noexcept {
  const long fd = open_readable_page(event, tid, group);
  const __u32 no_index = 0;
  const auto at = static_cast<off_t>(offsetof(perf_event_mmap_page, index));
  return pwrite(static_cast<int>(fd), &no_index, sizeof no_index, at) == sizeof no_index ? fd : -EIO;
}

TEST(EventGroup, AsksTheKernelWhereAPageGivesNoNumber) {
  EventGroup group(open_page_without_number, always_two);
  const std::array events{user_event(PERF_TYPE_RAW, 40)};
  ASSERT_EQ(group.open(gettid(), events).refusal, CounterRefusal::kNone);
  EXPECT_FALSE(group.reads_in_user_space());
  GroupReading reading;
  EXPECT_FALSE(group.read(reading)) << "what was opened here is no event";
}

TEST(GroupDelta, ScalesUpWhatWasSeenForPartOfTheTime) {
  const GroupReading before{.counts = {100, 10}, .enabled_ns = 1000, .running_ns = 1000};
  const GroupReading after{.counts = {150, 40}, .enabled_ns = 2000, .running_ns = 1250};
  const GroupDelta delta = between(before, after);
  EXPECT_EQ(delta.counted_share, 0.25);
  EXPECT_EQ(delta.counts[0], 200);
  EXPECT_EQ(delta.counts[1], 120);
}

TEST(GroupDelta, KnowsNothingOfATimeOffTheCounters) {
  const GroupReading before{.counts = {100}, .enabled_ns = 1000, .running_ns = 1000};
  const GroupReading after{.counts = {100}, .enabled_ns = 2000, .running_ns = 1000};
  EXPECT_EQ(between(before, after).counted_share, 0);
}

TEST(GroupDelta, NeverCountsBackwards) {
  const GroupReading before{.counts = {100}, .enabled_ns = 1000, .running_ns = 1000};
  const GroupReading after{.counts = {99}, .enabled_ns = 1100, .running_ns = 1101};
  const GroupDelta delta = between(before, after);
  EXPECT_EQ(delta.counts[0], 0);
  EXPECT_EQ(delta.counted_share, 1);
}

TEST(GroupDelta, LeavesOutAStretch) {
  GroupReading start{.counts = {100}, .enabled_ns = 1000, .running_ns = 1000};
  leave_out(start, {.counts = {150}, .enabled_ns = 1500, .running_ns = 1500},
            {.counts = {950}, .enabled_ns = 2500, .running_ns = 2500});
  const GroupDelta delta = between(start, {.counts = {960}, .enabled_ns = 2600, .running_ns = 2600});
  EXPECT_EQ(delta.counts[0], 60);
}

}  // namespace
}  // namespace nvmemu
