// SPDX-License-Identifier: Apache-2.0
// Code as compilers and C libraries have it, walked and then single-stepped.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <unordered_map>

#include "walk/test/stepping.h"

namespace nvmemu {
namespace {

// As often as is said, with other data each time.
void expect_same(void (*body)(), int rounds) {
  NVMEMU_NOT_BESIDE_OTHERS();
  std::size_t compared = 0;
  body();  // what the dynamic linker binds at a first call is bound: it saves registers as walks do not
  for (int round = 0; round < rounds; ++round) {
    const SteppedWalk walk = walk_and_step(body);
    ASSERT_EQ(walk.difference, "");
    ASSERT_EQ(walk.compared, walk.walked);
    EXPECT_EQ(walk.stop, WalkStop::kNone) << name_of(walk.stop);
    compared += walk.compared;
  }
  EXPECT_GE(compared, static_cast<std::size_t>(rounds) * 1000);
}

std::map<std::uint64_t, std::uint64_t> ordered;
std::unordered_map<std::uint64_t, std::uint64_t> hashed;
std::array<std::uint32_t, 400> numbers;
char text[4096];
volatile double result;
unsigned turn;

TEST(WholeCode, SortsNumbers) {
  expect_same(
      [] {
        ++turn;
        for (std::size_t i = 0; i < numbers.size(); ++i)
          numbers[i] = static_cast<std::uint32_t>((i + turn) * 2654435761u);
        std::sort(numbers.begin(), numbers.end());
      },
      5);
}

// The heap has room enough: a system call would end the walk.
TEST(WholeCode, FillsAndSearchesMaps) {
  constexpr int kRoomBytes = 4 << 20;
  mallopt(M_TOP_PAD, kRoomBytes);
  mallopt(M_TRIM_THRESHOLD, 4 * kRoomBytes);
  mallopt(M_MMAP_THRESHOLD, kRoomBytes);
  std::free(std::malloc(kRoomBytes / 2));
  expect_same(
      [] {
        for (std::uint64_t i = 0; i < 100; ++i) {
          const std::uint64_t key = (++turn * 0x9E3779B97F4A7C15ull) >> 40;
          ordered[key] = i;
          hashed[key] += ordered.size();
        }
      },
      5);
}

TEST(WholeCode, FormatsAndParses) {
  expect_same(
      [] {
        ++turn;
        std::snprintf(text, sizeof text, "%u %s %08lx %.17g %5.2f", turn, "words", 0xabcdefUL, 3.14159 * turn,
                      2.5);
        result = std::strtod(text, nullptr) + std::atof("1.25e-3");
      },
      5);
}

TEST(WholeCode, HandlesText) {
  expect_same(
      [] {
        const std::size_t size = 100 + 31 * (++turn % 50);
        std::memset(text, 'x', size);
        text[size] = 0;
        std::memmove(text + 7, text, size - 20);
        std::memcpy(text + 2048, text, size);
        result = static_cast<double>(std::strlen(text) + (std::strchr(text, 'y') != nullptr) +
                                     std::memcmp(text, text + 2048, size) + std::strcmp(text, text + 2048));
        std::string joined;
        for (int i = 0; i < 30; ++i) joined += std::string(text, i + 10);
        result = result + static_cast<double>(joined.find("xz"));
      },
      5);
}

TEST(WholeCode, Computes) {
  expect_same(
      [] {
        double sum = ++turn;
        for (int i = 1; i < 40; ++i) {
          sum += std::sin(sum) * std::exp(-0.1 * i) + std::log(sum * sum + i) + std::pow(sum, 0.3) +
                 std::floor(sum);
        }
        result = sum;
      },
      5);
}

TEST(WholeCode, ComputesInLongDoubles) {
  expect_same(
      [] {
        long double sum = ++turn;
        for (int i = 1; i < 30; ++i) {
          sum += std::sin(sum) * 0.1L * i + std::fmod(sum * sum, 7.5L) + static_cast<long double>(turn * i);
          sum = std::fmin(sum, 1e6L) + std::floor(std::sqrt(sum));
        }
        std::snprintf(text, sizeof text, "%.20Lg", sum);
        hashed.rehash(turn * 100);
        result = static_cast<double>(sum);
      },
      3);
}

}  // namespace
}  // namespace nvmemu
