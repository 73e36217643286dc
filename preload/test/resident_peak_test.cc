// SPDX-License-Identifier: Apache-2.0
#include "resident_peak.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstddef>

namespace nvmemu::preload {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

void touch_and_give_back(std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  for (std::size_t i = 0; i < bytes; i += 4096) static_cast<volatile char*>(memory)[i] = 1;
  ASSERT_EQ(munmap(memory, bytes), 0);
}

// As where a larger program has become this one: the kernel keeps the larger figure.
TEST(ResidentPeak, IsThePrograms) {
  touch_and_give_back(256 * kMiB);
  ResidentPeak peak;
  peak.open();
  const std::uint64_t now = peak.bytes();
  EXPECT_GT(now, 0U);
  EXPECT_LT(now, 200 * kMiB);
  touch_and_give_back(400 * kMiB);
  EXPECT_GE(peak.bytes(), 400 * kMiB);
}

}  // namespace
}  // namespace nvmemu::preload
