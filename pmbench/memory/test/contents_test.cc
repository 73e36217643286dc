// SPDX-License-Identifier: Apache-2.0
#include "memory/contents.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <set>
#include <vector>

namespace nvmemu::pmbench {
namespace {

const std::atomic<bool> kNever{false};

std::vector<std::byte> filled(std::size_t pages, unsigned compressible, unsigned threads,
                              std::uint64_t seed = 1) {
  std::vector<std::byte> memory(pages * kFilledPageBytes, std::byte{0x55});
  EXPECT_TRUE(fill(memory, seed, compressible, threads, kNever));
  return memory;
}

// Bits of information a byte, by how often each byte occurs.
double entropy(const std::vector<std::byte>& bytes) {
  std::array<double, 256> counts{};
  for (const std::byte byte : bytes) counts[std::to_integer<std::size_t>(byte)] += 1;
  double bits = 0;
  for (const double count : counts) {
    const double share = count / static_cast<double>(bytes.size());
    if (share > 0) bits -= share * std::log2(share);
  }
  return bits;
}

// The original fills one byte in four: such a page compresses to 1645 bytes.
TEST(Contents, HaveFullEntropy) {
  const std::vector<std::byte> memory = filled(256, 0, 2);
  EXPECT_GT(entropy(memory), 7.999);
  for (std::size_t lane = 0; lane < 4; ++lane) {
    std::vector<std::byte> bytes;
    for (std::size_t at = lane; at < memory.size(); at += 4) bytes.push_back(memory[at]);
    EXPECT_GT(entropy(bytes), 7.99) << lane;
  }
}

TEST(Contents, DifferFromPageToPageAndBySeed) {
  const std::vector<std::byte> one = filled(64, 0, 1);
  std::set<std::vector<std::byte>> pages;
  for (std::size_t page = 0; page < 64; ++page) {
    const auto begin = one.begin() + static_cast<std::ptrdiff_t>(page * kFilledPageBytes);
    pages.insert({begin, begin + kFilledPageBytes});
  }
  EXPECT_EQ(pages.size(), 64);
  EXPECT_NE(one, filled(64, 0, 1, 2));
}

TEST(Contents, AreTheSameHoweverManyFill) {
  for (const unsigned threads : {2U, 3U, 64U, 200U})
    EXPECT_EQ(filled(67, 30, 1), filled(67, 30, threads)) << threads;
}

TEST(Contents, AreZerosInTheShareThatIsAskedFor) {
  for (const unsigned percent : {0U, 25U, 50U, 100U}) {
    const std::vector<std::byte> memory = filled(16, percent, 1);
    const auto zeros = static_cast<double>(std::count(memory.begin(), memory.end(), std::byte{0}));
    const double expected = percent + (100.0 - percent) / 256;
    EXPECT_NEAR(100 * zeros / static_cast<double>(memory.size()), expected, 0.3) << percent;
  }
}

TEST(Populate, GivesEachPageSomethingOfItsOwn) {
  std::vector<std::byte> memory(8 * kFilledPageBytes);
  EXPECT_TRUE(populate(memory, 3, kNever));
  for (std::uint64_t page = 0; page < 8; ++page) {
    std::uint64_t word = 0;
    std::memcpy(&word, memory.data() + page * kFilledPageBytes, sizeof word);
    EXPECT_EQ(word, page + 1);
  }
}

TEST(Contents, StopWhenTheyAreTold) {
  std::vector<std::byte> memory(64 * kFilledPageBytes, std::byte{0x55});
  const std::atomic<bool> stop{true};
  EXPECT_FALSE(fill(memory, 1, 0, 2, stop));
  EXPECT_EQ(memory[0], std::byte{0x55});
}

}  // namespace
}  // namespace nvmemu::pmbench
