// SPDX-License-Identifier: Apache-2.0
// What the pager rests on, by the running kernel. Nobody handles the faults, but of a thread: other tests
// touch only what is there.
#include "paging/uffd_mapper.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "host/test/needs.h"
#include "simulated_memory.h"

namespace nvmemu {
namespace {

constexpr std::size_t kWatchedPages = 64;

class UffdMapperTest : public ::testing::Test {
 protected:
  void SetUp() override { open(HandlerKind::kSignal); }
  void open(HandlerKind handler) {
    NVMEMU_NEEDS_PAGING();
    ASSERT_TRUE(mapper_.open(handler));
    memory_ = static_cast<std::byte*>(mmap(nullptr, kWatchedPages * kPageBytes, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(memory_, MAP_FAILED);
    ASSERT_TRUE(mapper_.watch({address(0), address(kWatchedPages)}));
  }
  void TearDown() override {
    if (memory_ != nullptr) munmap(memory_, kWatchedPages * kPageBytes);
    if (mapper_.file() >= 0) close(mapper_.file());
  }
  std::uintptr_t address(std::size_t i) const {
    return reinterpret_cast<std::uintptr_t>(memory_) + i * kPageBytes;
  }
  std::uint64_t page(std::size_t i) const { return address(i) / kPageBytes; }
  bool is_there(std::size_t i) const {
    unsigned char there = 0;
    return mincore(reinterpret_cast<void*>(address(i)), kPageBytes, &there) == 0 && (there & 1) != 0;
  }
  bool holds(std::size_t i, std::uint64_t number) const {
    return std::memcmp(memory_ + i * kPageBytes, simulated::contents_of(number).data(), kPageBytes) == 0;
  }
  MapOutcome install(std::size_t i, std::uint64_t number, bool write_protected = false) {
    const simulated::Contents contents = simulated::contents_of(number);
    return mapper_.install(page(i), contents.data(), write_protected);
  }

  UffdMapper mapper_;
  std::byte* memory_ = nullptr;
};

TEST_F(UffdMapperTest, InstallsAPageOnce) {
  EXPECT_FALSE(is_there(3));
  EXPECT_EQ(install(3, 7), MapOutcome::kDone);
  EXPECT_TRUE(holds(3, 7));
  EXPECT_EQ(install(3, 8), MapOutcome::kAlready);
  EXPECT_TRUE(holds(3, 7));
}

TEST_F(UffdMapperTest, InstallsZerosUpToWhereAPageIs) {
  ASSERT_EQ(install(5, 7), MapOutcome::kDone);
  const auto installed = mapper_.install_zeros(page(2), 8);
  EXPECT_EQ(installed.pages, 3U);
  EXPECT_EQ(installed.outcome, MapOutcome::kAlready);
  EXPECT_TRUE(is_there(4));
  EXPECT_FALSE(is_there(6));
}

// What /proc/self/smaps says of the mapping that holds `place` (proc(5): VmFlags).
std::string flags_of(const void* place) {
  std::ifstream mappings("/proc/self/smaps");
  bool holds_it = false;
  for (std::string line; std::getline(mappings, line);) {
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    if (std::istringstream words(line); words >> std::hex >> begin >> dash >> end && dash == '-')
      holds_it =
          begin <= reinterpret_cast<std::uintptr_t>(place) && reinterpret_cast<std::uintptr_t>(place) < end;
    if (holds_it && line.starts_with("VmFlags:")) return line;
  }
  return "";
}

// Where the kernel makes huge pages of what it can, one would fill what pages are to be set apart in.
TEST_F(UffdMapperTest, NoHugePageHasPartsOfTheStagingArea) {
  EXPECT_NE(flags_of(mapper_.staged(0)).find(" nh"), std::string::npos);
  const std::string behind = flags_of(mapper_.staged(PageMapper::kStaging));
  EXPECT_NE(behind.find(" nh"), std::string::npos)
      << "touched before the area in front of it is watched: " << behind;
}

TEST_F(UffdMapperTest, SaysWhereNobodyWatches) {
  ASSERT_TRUE(mapper_.unwatch({address(0), address(kWatchedPages)}));
  EXPECT_EQ(install(3, 7), MapOutcome::kNotThere);
}

TEST_F(UffdMapperTest, TakesAPageOutAndPutsItBack) {
  ASSERT_EQ(install(3, 7), MapOutcome::kDone);
  if (!mapper_.moves()) GTEST_SKIP() << "needs UFFDIO_MOVE (Linux 6.8)";
  ASSERT_EQ(mapper_.stage(page(3), 0), MapOutcome::kDone);
  EXPECT_FALSE(is_there(3));
  EXPECT_EQ(std::memcmp(mapper_.staged(0), simulated::contents_of(7).data(), kPageBytes), 0);
  EXPECT_EQ(mapper_.stage(page(3), 1), MapOutcome::kNotThere);
  ASSERT_EQ(mapper_.unstage(0, page(3)), MapOutcome::kDone);
  EXPECT_TRUE(holds(3, 7));
}

// Somebody else clears the marks of their having been touched meanwhile.
TEST_F(UffdMapperTest, MovesPagesWhoseEntriesChange) {
  constexpr unsigned kMoves = 10'000;  // one in 4,000 is tried again
  ASSERT_EQ(install(3, 7), MapOutcome::kDone);
  if (!mapper_.moves()) GTEST_SKIP() << "needs UFFDIO_MOVE (Linux 6.8)";
  std::atomic<bool> is_over{false};
  std::thread other([&] {
    while (!is_over) madvise(memory_, kWatchedPages * kPageBytes, MADV_COLD);
  });
  const auto until_done = [](const auto& move) {
    MapOutcome outcome;
    do {
      outcome = move();  // or what it is at is held
    } while (outcome == MapOutcome::kShared);
    return outcome;
  };
  for (unsigned i = 0; i < kMoves && !HasFailure(); ++i) {
    EXPECT_EQ(until_done([&] { return mapper_.stage(page(3), 0); }), MapOutcome::kDone) << i;
    EXPECT_EQ(until_done([&] { return mapper_.unstage(0, page(3)); }), MapOutcome::kDone) << i;
    memory_[3 * kPageBytes + 9] = memory_[3 * kPageBytes + 1];
  }
  is_over = true;
  other.join();
  EXPECT_TRUE(holds(3, 7));
}

// Which the kernel may not have said.
TEST_F(UffdMapperTest, FindsThatAPageHasBeenMoved) {
  ASSERT_EQ(install(3, 7), MapOutcome::kDone);
  if (!mapper_.moves()) GTEST_SKIP() << "needs UFFDIO_MOVE (Linux 6.8)";
  ASSERT_EQ(mapper_.stage(page(3), 0), MapOutcome::kDone);
  EXPECT_EQ(mapper_.stage(page(3), 0), MapOutcome::kDone);
  EXPECT_EQ(std::memcmp(mapper_.staged(0), simulated::contents_of(7).data(), kPageBytes), 0);
  ASSERT_EQ(mapper_.unstage(0, page(3)), MapOutcome::kDone);
  EXPECT_EQ(mapper_.unstage(0, page(3)), MapOutcome::kDone);
  EXPECT_TRUE(holds(3, 7));
  ASSERT_EQ(install(4, 8), MapOutcome::kDone);
  ASSERT_EQ(mapper_.stage(page(4), 0), MapOutcome::kDone);
  EXPECT_EQ(mapper_.stage(page(3), 0), MapOutcome::kAlready);  // another's
  EXPECT_TRUE(holds(3, 7));
}

// A child of fork, that shares all there is until it is to end, and then looks at what it has.
class Child {
 public:
  template <typename Look>
  explicit Child(const Look& look) {
    EXPECT_EQ(pipe(pipes_), 0);
    process_ = fork();
    if (process_ != 0) return;
    char end;
    close(pipes_[1]);
    _exit(read(pipes_[0], &end, 1) == 0 && look() ? 0 : 1);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  // Whether what it had was as it was to be.
  bool end() {
    close(pipes_[1]);
    int status = -1;
    EXPECT_EQ(waitpid(process_, &status, 0), process_);
    close(pipes_[0]);
    return status == 0;
  }

 private:
  int pipes_[2] = {-1, -1};
  pid_t process_ = -1;
};

TEST_F(UffdMapperTest, TakesACopyOfWhatAChildShares) {
  ASSERT_EQ(install(3, 7), MapOutcome::kDone);
  Child child([] { return true; });
  if (mapper_.moves()) {
    EXPECT_EQ(mapper_.stage(page(3), 0), MapOutcome::kShared);
  }
  EXPECT_EQ(mapper_.protect(page(3), true), MapOutcome::kDone);
  EXPECT_EQ(mapper_.stage_copy(page(3), 0), MapOutcome::kDone);
  mapper_.drop(page(3));
  EXPECT_FALSE(is_there(3));
  EXPECT_EQ(std::memcmp(mapper_.staged(0), simulated::contents_of(7).data(), kPageBytes), 0);
  EXPECT_TRUE(child.end());
}

// A copy of its own for this process, so that it can be taken out. Then, or still, the child has what it had.
TEST_F(UffdMapperTest, MakesWhatAChildSharesItsOwn) {
  if (!mapper_.moves()) GTEST_SKIP() << "needs UFFDIO_MOVE (Linux 6.8)";
  ASSERT_EQ(install(3, 7), MapOutcome::kDone);
  Child child([this] { return holds(3, 7); });
  ASSERT_EQ(mapper_.stage(page(3), 0), MapOutcome::kShared);
  EXPECT_TRUE(mapper_.make_own(page(3)));
  EXPECT_EQ(mapper_.stage(page(3), 0), MapOutcome::kDone);
  EXPECT_EQ(std::memcmp(mapper_.staged(0), simulated::contents_of(7).data(), kPageBytes), 0);
  EXPECT_TRUE(child.end());
}

// Memory that a device may write to at any time, as io_uring's registered buffers.
class HeldByTheKernel {
 public:
  HeldByTheKernel(std::uintptr_t begin, std::size_t bytes) {
    io_uring_params parameters{};
    ring_ = static_cast<int>(syscall(SYS_io_uring_setup, 1, &parameters));
    iovec buffer{reinterpret_cast<void*>(begin), bytes};
    is_held_ = ring_ >= 0 && syscall(SYS_io_uring_register, ring_, IORING_REGISTER_BUFFERS, &buffer, 1) == 0;
  }
  ~HeldByTheKernel() {
    if (is_held_) syscall(SYS_io_uring_register, ring_, IORING_UNREGISTER_BUFFERS, nullptr, 0);
    if (ring_ >= 0) close(ring_);
  }
  HeldByTheKernel(const HeldByTheKernel&) = delete;
  HeldByTheKernel& operator=(const HeldByTheKernel&) = delete;
  bool is_held() const { return is_held_; }

 private:
  int ring_ = -1;
  bool is_held_ = false;
};

TEST_F(UffdMapperTest, WhatADeviceHoldsCannotBeMadeItsOwn) {
  if (!mapper_.moves()) GTEST_SKIP() << "needs UFFDIO_MOVE (Linux 6.8)";
  ASSERT_EQ(install(3, 7), MapOutcome::kDone);
  {
    const HeldByTheKernel held(address(3), kPageBytes);
    if (!held.is_held()) GTEST_SKIP() << "needs io_uring, and memory that may be locked";
    EXPECT_EQ(mapper_.stage(page(3), 0), MapOutcome::kShared);
    EXPECT_TRUE(mapper_.make_own(page(3)));
    EXPECT_EQ(mapper_.stage(page(3), 0), MapOutcome::kShared);
  }
  EXPECT_EQ(mapper_.stage(page(3), 0), MapOutcome::kDone);
}

TEST_F(UffdMapperTest, WritesToWhatNobodyWatches) {
  ASSERT_TRUE(mapper_.unwatch({address(0), address(kWatchedPages)}));
  const simulated::Contents contents = simulated::contents_of(7);
  EXPECT_EQ(mapper_.overwrite(page(3), contents.data()), MapOutcome::kDone);
  EXPECT_TRUE(holds(3, 7));
  ASSERT_EQ(mprotect(memory_ + 4 * kPageBytes, kPageBytes, PROT_READ), 0);
  EXPECT_EQ(mapper_.overwrite(page(4), contents.data()), MapOutcome::kFailed);
  ASSERT_EQ(munmap(memory_ + 5 * kPageBytes, kPageBytes), 0);
  EXPECT_EQ(mapper_.overwrite(page(5), contents.data()), MapOutcome::kNotThere);
}

// By the kernel's own calls: the C library's do nothing under the address sanitizer.
TEST_F(UffdMapperTest, SaysThatLockedMemoryIsNotDropped) {
  ASSERT_EQ(install(3, 7), MapOutcome::kDone);
  if (syscall(SYS_mlock, address(3), kPageBytes) != 0) GTEST_SKIP() << "needs a page that may be locked";
  EXPECT_FALSE(mapper_.drop(page(3)));
  EXPECT_TRUE(holds(3, 7));
  ASSERT_EQ(syscall(SYS_munlock, address(3), kPageBytes), 0);
  EXPECT_TRUE(mapper_.drop(page(3)));
  EXPECT_FALSE(is_there(3));
}

// This thread is the one that brings pages, to another, or to the kernel where it reads or writes for that
// one.
class UffdMapperOfAThread : public UffdMapperTest {
 protected:
  void SetUp() override {
    NVMEMU_NEEDS(check_paging(HandlerKind::kThread), "root, CAP_SYS_PTRACE or vm.unprivileged_userfaultfd=1");
    open(HandlerKind::kThread);
    ASSERT_EQ(pipe(pipes_), 0);
  }
  void TearDown() override {
    UffdMapperTest::TearDown();
    for (const int end : pipes_) close(end);
  }
  UffdMapper::Fault next_fault() {
    UffdMapper::Fault faults[UffdMapper::kMostFaults], more[UffdMapper::kMostFaults];
    pollfd file{.fd = mapper_.file(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(poll(&file, 1, 10'000), 1);
    EXPECT_EQ(mapper_.read_faults(faults), 1U);
    EXPECT_EQ(mapper_.read_faults(more), 0U);
    return faults[0];
  }
  int pipes_[2]{};
};

TEST_F(UffdMapperOfAThread, WhoeverTouchesAPageWaitsForIt) {
  std::atomic<unsigned> seen{0};
  std::thread other([&] {
    seen = std::to_integer<unsigned>(*const_cast<volatile std::byte*>(memory_ + 3 * kPageBytes));
    *const_cast<volatile std::byte*>(memory_ + 3 * kPageBytes) = std::byte{9};
  });
  const UffdMapper::Fault read = next_fault();
  EXPECT_EQ(read.address / kPageBytes, page(3));
  EXPECT_FALSE(read.write);
  ASSERT_EQ(install(3, 7, true), MapOutcome::kDone);
  const UffdMapper::Fault written = next_fault();
  EXPECT_TRUE(written.write);
  EXPECT_EQ(seen, 7U);
  ASSERT_EQ(mapper_.protect(page(3), false), MapOutcome::kDone);
  other.join();
  EXPECT_EQ(memory_[3 * kPageBytes], std::byte{9});
}

TEST_F(UffdMapperOfAThread, TheKernelWaitsToo) {
  long put = 0;
  std::thread other([&] { put = write(pipes_[1], memory_ + 3 * kPageBytes, 8); });
  EXPECT_EQ(next_fault().address / kPageBytes, page(3));
  ASSERT_EQ(install(3, 7), MapOutcome::kDone);
  other.join();
  EXPECT_EQ(put, 8);
  std::uint64_t value = 0;
  EXPECT_EQ(read(pipes_[0], &value, sizeof value), 8);
  EXPECT_EQ(value, 7U);
}

TEST_F(UffdMapperOfAThread, WhatCannotBeBroughtIsAnError) {
  long put = 0;
  int error = 0;
  std::thread other([&] {
    put = write(pipes_[1], memory_ + 3 * kPageBytes, 8);
    error = errno;
  });
  next_fault();
  mapper_.spoil(page(3));
  other.join();
  EXPECT_EQ(put, -1);
  EXPECT_EQ(error, EFAULT);
}

TEST(TimeHistogram, HasEachTimeInABucketAnEighthWide) {
  for (std::uint64_t ns : {0ULL, 1ULL, 7ULL, 8ULL, 15ULL, 16ULL, 1000ULL, 17'400ULL, 123'456'789ULL}) {
    const std::size_t bucket = TimeHistogram::bucket_of(ns);
    EXPECT_LE(TimeHistogram::begin_of(bucket), ns);
    EXPECT_GT(TimeHistogram::begin_of(bucket + 1), ns);
    EXPECT_LE(TimeHistogram::begin_of(bucket + 1) - TimeHistogram::begin_of(bucket),
              std::max<std::uint64_t>(1, ns / 8));
  }
  EXPECT_EQ(TimeHistogram::bucket_of(~0ULL), TimeHistogram::kBuckets - 1);
}

}  // namespace
}  // namespace nvmemu
