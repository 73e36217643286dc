// SPDX-License-Identifier: Apache-2.0
#include "present_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

namespace nvmemu::preload {
namespace {

constexpr std::size_t kPage = 4096, kPages = 700;  // of which more than one part is looked at

class PresentPagesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (syscall(SYS_move_pages, 0, 0UL, nullptr, nullptr, nullptr, 0) != 0)
      GTEST_SKIP() << "a kernel without nodes";
    void* const mapped =
        mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(mapped, MAP_FAILED);
    ASSERT_EQ(madvise(mapped, kPages * kPage, MADV_NOHUGEPAGE), 0);
    memory_ = static_cast<char*>(mapped);
    for (const std::size_t page : kTouched) memory_[page * kPage] = 1;
  }
  ~PresentPagesTest() override {
    if (memory_ != nullptr) munmap(memory_, kPages * kPage);
  }

  std::uintptr_t begin() const { return reinterpret_cast<std::uintptr_t>(memory_); }
  // By their numbers.
  std::vector<std::size_t> found(int node, std::size_t most = kPages) {
    std::vector<std::size_t> pages;
    pages_.for_each(begin(), begin() + kPages * kPage, kPage, node, [&](std::uintptr_t page, int where) {
      EXPECT_GE(where, 0);
      EXPECT_TRUE(node == PresentPages::kUnknown || where == node);
      pages.push_back((page - begin()) / kPage);
      return pages.size() < most;
    });
    return pages;
  }

  inline static const std::vector<std::size_t> kTouched = {0, 1, 255, 256, 600, kPages - 1};
  PresentPages pages_;
  char* memory_ = nullptr;
};

TEST_F(PresentPagesTest, AreFoundWhereTheirNodeIsKnown) { EXPECT_EQ(found(0), kTouched); }

TEST_F(PresentPagesTest, AreAskedForWhereItIsNot) { EXPECT_EQ(found(PresentPages::kUnknown), kTouched); }

// Of the pages that a child has of its parent's, those that it has written to.
TEST_F(PresentPagesTest, ThoseOfItsOwnAreNotItsParents) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    memory_[kPage] = memory_[256 * kPage] = 2;
    memory_[2 * kPage] = 1;
    std::size_t found = 0;
    PresentPages(kOwnProcess, PresentPages::Which::kOwn)
        .for_each(begin(), begin() + kPages * kPage, kPage, 0,
                  [&](std::uintptr_t, int) { return ++found > 0; });
    _exit(static_cast<int>(found));
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 3);
}

TEST_F(PresentPagesTest, NoMoreThanAreWanted) {
  EXPECT_EQ(found(0, 3), (std::vector<std::size_t>{0, 1, 255}));
}

// A TiB of it, which page by page would take seconds.
TEST_F(PresentPagesTest, HolesArePassed) {
  constexpr std::size_t kLarge = std::size_t{1} << 40;
  void* const mapped =
      mmap(nullptr, kLarge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) GTEST_SKIP() << "addresses are limited";
  ASSERT_EQ(madvise(mapped, kLarge, MADV_NOHUGEPAGE), 0);
  char* const memory = static_cast<char*>(mapped);
  std::vector<std::uintptr_t> touched;
  for (const std::size_t at : {std::size_t{0}, kLarge / 2 + 5 * kPage, kLarge - kPage}) {
    memory[at] = 1;
    touched.push_back(reinterpret_cast<std::uintptr_t>(memory + at));
  }
  std::vector<std::uintptr_t> seen;
  const auto first = reinterpret_cast<std::uintptr_t>(memory);
  pages_.for_each(first, first + kLarge, kPage, 0, [&](std::uintptr_t page, int) {
    seen.push_back(page);
    return true;
  });
  EXPECT_EQ(seen, touched);
  munmap(mapped, kLarge);
}

// Of huge pages the first 4 KiB stand for the whole.
TEST_F(PresentPagesTest, AreLookedAtByTheirSize) {
  std::size_t count = 0;
  pages_.for_each(begin(), begin() + 16 * kPage, 8 * kPage, 0, [&](std::uintptr_t page, int) {
    EXPECT_EQ(page, begin());
    return ++count != 0;
  });
  EXPECT_EQ(count, 1U);
}

// Two processes have them, so that their entries are as one of the page of zeros.
TEST_F(PresentPagesTest, AreThereThoughForkHasSharedThem) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[1]);
    char byte = 0;
    _exit(static_cast<int>(read(ends[0], &byte, 1)));
  }
  ASSERT_GT(child, 0);
  EXPECT_EQ(found(0), kTouched);
  close(ends[0]);
  close(ends[1]);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
}

}  // namespace
}  // namespace nvmemu::preload
