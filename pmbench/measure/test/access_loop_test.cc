// SPDX-License-Identifier: Apache-2.0
#include "measure/access_loop.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "nvmemu/nvmemu.h"

namespace {

std::uint64_t told_calls = 0, told_accesses = 0;

}  // namespace

// As the emulator has it.
void nvmemu_progress(unsigned long long amount) {
  ++told_calls;
  told_accesses += amount;
}

namespace nvmemu::pmbench {
namespace {

constexpr std::size_t kPageBytes = 4096;

void sleep_ms(long ms) {
  const timespec time{.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1'000'000};
  nanosleep(&time, nullptr);
}

class Memory {
 public:
  explicit Memory(std::size_t pages) : bytes_(pages * kPageBytes) {
    data_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(data_, bytes_, MADV_NOHUGEPAGE);
  }
  ~Memory() { munmap(data_, bytes_); }
  std::byte* data() const { return static_cast<std::byte*>(data_); }
  std::size_t bytes() const { return bytes_; }
  std::uint32_t word(std::size_t page, std::size_t at) const {
    return reinterpret_cast<const std::uint32_t*>(data())[page * kPageBytes / 4 + at];
  }

 private:
  std::size_t bytes_;
  void* data_;
};

std::unique_ptr<Pattern> pattern(const char* name, std::uint64_t pages) {
  return *make_pattern({.name = name, .pages = pages});
}

LoopSettings settings_for(const Memory& memory) {
  LoopSettings settings;
  settings.memory = memory.data();
  settings.timestamp = timer_hz(default_timestamp()) ? default_timestamp() : TimestampKind::kPerfCounter;
  settings.hz = *timer_hz(settings.timestamp);
  settings.cost = measure_timer_cost(settings.timestamp, settings.fence);
  return settings;
}

ThreadResult run(const LoopSettings& settings, Pattern& pattern, std::uint64_t accesses) {
  const LoopControl control{0};
  const auto loop = std::make_unique<AccessLoop>(settings, control, 0);
  EXPECT_EQ(loop->run(pattern, 0, accesses), accesses);
  ThreadResult result;
  loop->report(result);
  return result;
}

TEST(AccessLoop, RecordsEachAccessOnce) {
  const Memory memory(64);
  const ThreadResult result = run(settings_for(memory), *pattern("uniform", 64), 10'007);
  EXPECT_EQ(result.accesses, 10'007);
  EXPECT_EQ(result.reads.count + result.writes.count, 10'007);
  EXPECT_GT(result.reads.sum_ns + result.writes.sum_ns, 0);
}

TEST(AccessLoop, TellsTheEmulatorOfEachAccessButNotOneByOne) {
  const Memory memory(64);
  told_calls = told_accesses = 0;
  run(settings_for(memory), *pattern("uniform", 64), 10'007);
  EXPECT_EQ(told_accesses, 10'007u);
  EXPECT_LE(told_calls, 10u);
  EXPECT_GE(told_calls, 3u);
}

TEST(AccessLoop, ReadsAndWritesInTheRatioThatIsAskedFor) {
  const Memory memory(64);
  LoopSettings settings = settings_for(memory);
  for (const unsigned percent : {0U, 25U, 100U}) {
    settings.read_percent = percent;
    const ThreadResult result = run(settings, *pattern("uniform", 64), 40'000);
    EXPECT_NEAR(static_cast<double>(result.reads.count), 400.0 * percent, percent % 100 == 0 ? 0 : 400)
        << percent;
  }
}

TEST(AccessLoop, WritesToTheWordThatIsAskedFor) {
  const Memory memory(16);
  LoopSettings settings = settings_for(memory);
  settings.read_percent = 0;
  settings.word = 1023;
  settings.write_needs_read = true;  // adds 1 to it
  run(settings, *pattern("sequential", 16), 32);
  for (std::size_t page = 0; page < 16; ++page) {
    EXPECT_EQ(memory.word(page, 1023), 2) << page;
    EXPECT_EQ(memory.word(page, 0), 0) << page;
  }
}

TEST(AccessLoop, ReachesAllWordsOfAPage) {
  const Memory memory(1);
  LoopSettings settings = settings_for(memory);
  settings.read_percent = 0;
  settings.write_needs_read = true;
  run(settings, *pattern("uniform", 1), 40'000);
  for (std::size_t word = 0; word < kPageBytes / 4; ++word) EXPECT_GT(memory.word(0, word), 0) << word;
}

TEST(AccessLoop, LargerPagesAreAccessedAllOver) {
  const Memory memory(64);
  LoopSettings settings = settings_for(memory);
  settings.page_shift = 16;
  settings.read_percent = 0;
  run(settings, *pattern("sequential", 4), 1000);
  std::set<std::size_t> touched;
  for (std::size_t page = 0; page < 64; ++page) {
    if (is_resident(memory.data() + page * kPageBytes)) touched.insert(page);
  }
  EXPECT_EQ(touched.size(), 64);
}

TEST(AccessLoop, TouchTimesButRecordsNothing) {
  const Memory memory(16);
  LoopSettings settings = settings_for(memory);
  settings.record = settings.classify = false;
  const ThreadResult result = run(settings, *pattern("uniform", 16), 1000);
  EXPECT_EQ(result.accesses, 1000);
  EXPECT_EQ(result.reads.count + result.writes.count, 0);
}

// The delay is for a tenth of a millisecond, an access to a page that is there for less than a microsecond.
TEST(AccessLoop, TheDelayBetweenAccessesIsNoLatency) {
  const Memory memory(4);
  LoopSettings settings = settings_for(memory);
  settings.delay_ticks = static_cast<std::uint64_t>(settings.hz / 10'000);
  const std::uint64_t begin_ns = monotonic_raw_ns();
  const ThreadResult result = run(settings, *pattern("uniform", 4), 500);
  EXPECT_GE(monotonic_raw_ns() - begin_ns, 500 * 99'000);
  LatencyCounts all = result.reads;
  all.merge(result.writes);
  EXPECT_LT(all.percentile_ns(0.5), 20'000);
}

// AddressSanitizer looks up a byte of its own for each eight of the memory; those fault too.
#if defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t kShadowShare = 8;
#else
constexpr std::uint64_t kShadowShare = 0;
#endif

TEST(AccessLoop, ClassesFaultsByWhatHappened) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "needs to be without ThreadSanitizer, whose memory faults with each access to a new page";
#endif
  const Memory memory(4096);
  LoopSettings settings = settings_for(memory);
  settings.read_percent = 0;
  const ThreadResult result = run(settings, *pattern("sequential", 4096), 20 * 4096);
  constexpr std::uint64_t kShadowPages = kShadowShare == 0 ? 0 : 4096 / kShadowShare + 8;
  EXPECT_GE(result.minor_faults, 4096);
  EXPECT_LE(result.minor_faults, 4096 + kShadowPages);
  EXPECT_EQ(result.own_faults, 0);
  const auto& [hits, minor, major] = result.classes;
  EXPECT_GT(minor.count, 10);  // some: a sample that takes a 128th of the time, however long that is
  EXPECT_GT(hits.count, 10);
  EXPECT_GT(minor.percentile_ns(0.5), hits.percentile_ns(0.5));
  EXPECT_EQ(result.classed_resident[static_cast<std::size_t>(AccessClass::kMinorFault)], 0);
  EXPECT_EQ(result.classed_resident[static_cast<std::size_t>(AccessClass::kHit)], hits.count);
}

TEST(AccessLoop, EndsWhenItIsTold) {
  const Memory memory(16);
  LoopControl control{3};
  const auto loop = std::make_unique<AccessLoop>(settings_for(memory), control, 0);
  std::thread other([&] {
    while (loop->accesses() == 0) sleep_ms(1);
    control.store(kStop);
  });
  const std::uint64_t made = loop->run(*pattern("uniform", 16), 3, ~std::uint64_t{0});
  other.join();
  EXPECT_GT(made, 0);
  EXPECT_EQ(made, loop->accesses());
  EXPECT_EQ(loop->run(*pattern("uniform", 16), 3, ~std::uint64_t{0}), 0);
}

// The processor's number comes with each time stamp.
TEST(AccessLoop, CountsMigrations) {
  const Memory memory(16);
  const LoopSettings settings = settings_for(memory);
  if (settings.timestamp != TimestampKind::kRdtscp)
    GTEST_SKIP() << "needs a clock that tells the processor (rdtscp)";
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  if (CPU_COUNT(&allowed) < 2) GTEST_SKIP() << "needs two processors";
  LoopControl control{3};
  const auto loop = std::make_unique<AccessLoop>(settings, control, 0);
  std::atomic<pid_t> tid{0};
  std::thread looping([&] {
    tid.store(gettid());
    loop->run(*pattern("uniform", 16), 3, ~std::uint64_t{0});
  });
  while (tid.load() == 0 || loop->accesses() == 0) sleep_ms(1);
  constexpr int kRounds = 3;
  std::uint64_t moves = 0;
  for (int round = 0; round < kRounds; ++round) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &allowed)) continue;
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      ASSERT_EQ(sched_setaffinity(tid.load(), sizeof one, &one), 0);
      for (const std::uint64_t before = loop->accesses(); loop->accesses() == before;) sleep_ms(1);
      ++moves;
    }
  }
  control.store(kStop);
  looping.join();
  // All but the first, which may find the thread where it was.
  ThreadResult result;
  loop->report(result);
  EXPECT_GE(result.migrations, moves - 1);
}

// Pages that take 1 ms to come, as from a slow disk, and are gone when the next one comes.
class SlowMemory {
 public:
  explicit SlowMemory(std::size_t pages) : memory_(pages) {
    fd_ = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY));
    uffdio_api api{};
    api.api = UFFD_API;
    uffdio_register range{};
    range.range = {reinterpret_cast<std::uint64_t>(memory_.data()), memory_.bytes()};
    range.mode = UFFDIO_REGISTER_MODE_MISSING;
    works_ = fd_ >= 0 && ioctl(fd_, UFFDIO_API, &api) == 0 && ioctl(fd_, UFFDIO_REGISTER, &range) == 0;
    if (works_) pager_ = std::thread([this] { page(); });
  }
  ~SlowMemory() {
    if (fd_ >= 0) {
      uffdio_range range{reinterpret_cast<std::uint64_t>(memory_.data()), memory_.bytes()};
      ioctl(fd_, UFFDIO_UNREGISTER, &range);
    }
    stopped_ = true;
    if (pager_.joinable()) pager_.join();
    if (fd_ >= 0) close(fd_);
  }
  bool works() const { return works_; }
  const Memory& memory() const { return memory_; }
  int brought() const { return brought_; }  // pages that came

 private:
  void page() {
    fcntl(fd_, F_SETFL, O_NONBLOCK);
    void* last = nullptr;
    while (!stopped_) {
      uffd_msg message;
      if (read(fd_, &message, sizeof message) != sizeof message) {
        const timespec a_little{.tv_sec = 0, .tv_nsec = 50'000};
        nanosleep(&a_little, nullptr);
        continue;
      }
      sleep_ms(1);
      if (last != nullptr) madvise(last, kPageBytes, MADV_DONTNEED);
      const std::uint64_t page = message.arg.pagefault.address & ~std::uint64_t{kPageBytes - 1};
      last = reinterpret_cast<void*>(page);
      uffdio_zeropage zero{};
      zero.range = {page, kPageBytes};
      ioctl(fd_, UFFDIO_ZEROPAGE, &zero);
      ++brought_;
    }
  }

  Memory memory_;
  int fd_;
  bool works_ = false;
  std::atomic<bool> stopped_{false};
  std::atomic<int> brought_{0};
  std::thread pager_;
};

TEST(AccessLoop, EndsWithinAnAccessWhereEachTakesAMillisecond) {
  const SlowMemory slow(1024);
  if (!slow.works()) GTEST_SKIP() << "needs userfaultfd(2)";
  LoopSettings settings = settings_for(slow.memory());
  settings.read_percent = 100;
  LoopControl control{0};
  const auto loop = std::make_unique<AccessLoop>(settings, control, 0);
  std::uint64_t told_ns = 0;
  constexpr int kPages = 200;
  std::thread other([&] {
    while (slow.brought() < kPages) sleep_ms(1);
    told_ns = monotonic_raw_ns();
    control.store(kStop);
  });
  const auto uniform = pattern("uniform", 1024);
  const std::uint64_t made = loop->run(*uniform, 0, ~std::uint64_t{0});
  const std::uint64_t ended_ns = monotonic_raw_ns();
  other.join();
  EXPECT_GE(made, kPages / 2);
  EXPECT_LT(made, 300);
  EXPECT_LT(ended_ns - told_ns, 100'000'000);
  ThreadResult result;
  loop->report(result);
  EXPECT_EQ(result.reads.count, made);
  EXPECT_GE(result.reads.percentile_ns(0.5), 1e6 * 0.98);
}

TEST(AccessLoop, TheSameSeedMakesTheSameAccesses) {
  const Memory first(8);
  const Memory second(8);
  for (const Memory* memory : {&first, &second}) {
    LoopSettings settings = settings_for(*memory);
    settings.write_needs_read = true;
    settings.seed = 42;
    run(settings, *pattern("uniform", 8), 5000);
  }
  EXPECT_EQ(std::memcmp(first.data(), second.data(), first.bytes()), 0);
}

}  // namespace
}  // namespace nvmemu::pmbench
