// SPDX-License-Identifier: Apache-2.0
#include "own_heap.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "base/raw_syscall.h"

extern "C" {
void* __wrap_calloc(std::size_t count, std::size_t bytes);
char* __wrap_strdup(const char* text);
char* __wrap_strerror(int number);
char* __wrap_realpath(const char* path, char* room);
char* __wrap_getcwd(char* room, std::size_t bytes);
}

namespace nvmemu::preload::own_heap {
namespace {

bool holds(const void* block, int byte, std::size_t bytes) {
  const auto* const begin = static_cast<const unsigned char*>(block);
  return std::all_of(begin, begin + bytes, [byte](unsigned char there) { return there == byte; });
}

TEST(OwnHeap, BlocksOfAnySizeAreApartAndAligned) {
  std::vector<std::pair<void*, std::size_t>> blocks;
  for (std::size_t bytes = 0; bytes < 200'000; bytes = bytes * 3 / 2 + 1) {
    void* const block = allocate(bytes);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % alignof(std::max_align_t), 0U);
    std::memset(block, static_cast<int>(blocks.size()), bytes);
    blocks.emplace_back(block, bytes);
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_TRUE(holds(blocks[i].first, static_cast<int>(i), blocks[i].second));
    release(blocks[i].first);
  }
  release(nullptr);
}

TEST(OwnHeap, AlignsAsAskedUpToAPage) {
  for (std::size_t alignment = 1; alignment <= 4096; alignment *= 2) {
    void* const block = allocate(100, alignment);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % alignment, 0U);
    std::memset(block, 1, 100);
    release(block);
  }
  EXPECT_EQ(allocate(100, 8192), nullptr);
  EXPECT_EQ(allocate(100, 48), nullptr);
}

TEST(OwnHeap, WhatIsResizedHasItsContents) {
  void* block = resize(nullptr, 10);
  std::memset(block, 7, 10);
  block = resize(block, 100'000);
  EXPECT_TRUE(holds(block, 7, 10));
  block = resize(block, 5);
  EXPECT_TRUE(holds(block, 7, 5));
  release(block);
}

TEST(OwnHeap, SaysThatThereIsNoRoom) {
  EXPECT_EQ(allocate(SIZE_MAX), nullptr);
  EXPECT_EQ(allocate(SIZE_MAX / 2 - 4096), nullptr);
  EXPECT_EQ(__wrap_calloc(SIZE_MAX / 2, 3), nullptr);
}

TEST(OwnHeap, GivesZerosWhereTheyAreAskedFor) {
  void* const used = allocate(1000);
  std::memset(used, 1, 1000);
  release(used);
  void* const block = __wrap_calloc(10, 100);
  EXPECT_TRUE(holds(block, 0, 1000));
  release(block);
}

TEST(OwnHeap, WhatTheCLibraryWouldAllocateIsItsOwn) {
  char* const text = __wrap_strdup("text");
  char* const path = __wrap_realpath("/proc/../etc/.", nullptr);
  char* const folder = __wrap_getcwd(nullptr, 0);
  EXPECT_STREQ(text, "text");
  EXPECT_STREQ(path, "/etc");
  EXPECT_EQ(folder, std::string(get_current_dir_name()));
  EXPECT_EQ(__wrap_realpath("/no such folder", nullptr), nullptr);
  for (char* const block : {text, path, folder}) release(block);
  EXPECT_STREQ(__wrap_strerror(ENOENT), "No such file or directory");
  EXPECT_STREQ(__wrap_strerror(-5), "unknown error");
}

// Of threads, too, while others are forked: neither side hangs, or has another's block.
TEST(OwnHeap, IsWholeInAChildWhateverOtherThreadsDo) {
  std::atomic<bool> is_over{false};
  const auto use = [&is_over](int byte) {
    while (!is_over) {
      void* const block = allocate(static_cast<std::size_t>(byte) * 37);
      std::memset(block, byte, static_cast<std::size_t>(byte) * 37);
      if (!holds(block, byte, static_cast<std::size_t>(byte) * 37)) std::abort();
      release(block);
    }
  };
  std::vector<std::thread> users;
  for (int byte = 1; byte <= 3; ++byte) users.emplace_back(use, byte);
  for (int i = 0; i < 50; ++i) {
    lock();
    const long child = raw_syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    unlock();
    if (child == 0) {
      release(allocate(100));
      raw_syscall(SYS_exit_group, 0);
    }
    int status = -1;
    ASSERT_EQ(waitpid(static_cast<pid_t>(child), &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  is_over = true;
  for (std::thread& user : users) user.join();
}

}  // namespace
}  // namespace nvmemu::preload::own_heap
