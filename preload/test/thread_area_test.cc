// SPDX-License-Identifier: Apache-2.0
#include "thread_area.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

namespace nvmemu::preload {
namespace {

constexpr std::size_t kStateBytes = 1000;
constexpr std::ptrdiff_t kUsableBytes = 64 * 1024;

volatile char* take() { return static_cast<volatile char*>(take_thread_area(kStateBytes)); }

TEST(ThreadArea, HasAStackBelowTheState) {
  volatile char* const state = take();
  ASSERT_NE(state, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(state) % 16, 0u);
  EXPECT_TRUE(std::all_of(state, state + kStateBytes, [](char c) { return c == 0; }));
  for (std::ptrdiff_t at = 1; at <= kUsableBytes; ++at) state[-at] = 1;
  EXPECT_TRUE(std::all_of(state, state + kStateBytes, [](char c) { return c == 0; }));
}

// Also where what lies below is another thread's.
TEST(ThreadArea, WhatRunsOverItsStackFaults) {
  for (int i = 0; i < 4; ++i) {
    volatile char* const below = take() - kUsableBytes;
    for (const std::ptrdiff_t by : {1, 64, 4096}) {
      EXPECT_EXIT((below[-by] = 1, _exit(0)), testing::KilledBySignal(SIGSEGV), "") << by;
    }
  }
}

TEST(ThreadArea, IsAllZerosForTheNextThread) {
  volatile char* const used = take();
  std::fill(used, used + kStateBytes, 7);
  give_back_thread_area(const_cast<char*>(used), kStateBytes);
  volatile char* const next = take();
  EXPECT_TRUE(std::all_of(next, next + kStateBytes, [](char c) { return c == 0; }));
}

int take_all() {
  int taken = 0;
  while (take() != nullptr) ++taken;
  return taken;
}

// Each has more of the kernel's areas beside it; the rest is the program's. The child of a fork has them
// anew.
TEST(ThreadArea, SoManyAtOnceAreTheEmulators) {
  const int all = take_all();
  EXPECT_GT(all, 8000);
  EXPECT_LE(all, 8192);
  EXPECT_EQ(take(), nullptr);
  abandon_thread_areas();
  EXPECT_EQ(take_all(), 8191);
}

TEST(ThreadArea, WhatIsGivenBackIsTakenAnew) {
  volatile char* const first = take();
  const int all = take_all();
  EXPECT_GT(all, 8000);
  for (int i = 0; i < 100; ++i) {
    give_back_thread_area(const_cast<char*>(first), kStateBytes);
    ASSERT_EQ(take(), first) << i;
  }
  EXPECT_EQ(take(), nullptr);
}

}  // namespace
}  // namespace nvmemu::preload
