// SPDX-License-Identifier: Apache-2.0
#include "paging/block_collection.h"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "base/xorshift.h"

namespace nvmemu {
namespace {

constexpr std::uint64_t kBlockPages = 64;
constexpr std::uint64_t kBlockBytes = kBlockPages * kPageBytes;

PageDevice flash(double spare_share, double capacity_bytes = 0) {
  return {.read_bps = 4096e6,
          .write_bps = 2048e6,
          .erase_block_bytes = kBlockBytes,
          .erase_ns = 1e6,
          .spare_share = spare_share,
          .capacity_bytes = capacity_bytes};
}

// The device itself, page by page: what is written goes to the block that is open, and the block that was
// written longest ago is collected when there is none.
double simulated_amplification(double spare_share) {
  constexpr std::uint32_t kPages = 64'000, kNowhere = ~0U;
  const auto blocks = static_cast<std::uint32_t>(kPages * (1 + spare_share) / kBlockPages);
  std::vector<std::uint32_t> holds(std::size_t{blocks} * kBlockPages, kNowhere), lies(kPages, kNowhere);
  std::deque<std::uint32_t> empty, full;
  for (std::uint32_t block = 0; block < blocks; ++block) empty.push_back(block);
  std::uint32_t open = 0, used = kBlockPages;
  std::uint64_t written = 0;
  const auto put = [&](std::uint32_t page) {
    if (used == kBlockPages) {
      open = empty.front();
      empty.pop_front();
      full.push_back(open);
      used = 0;
    }
    if (lies[page] != kNowhere) holds[lies[page]] = kNowhere;
    lies[page] = static_cast<std::uint32_t>(open * kBlockPages + used++);
    holds[lies[page]] = page;
    ++written;
  };
  std::uint64_t random = 7, asked = 0;
  const auto ask = [&](std::uint32_t page) {
    while (empty.size() < 2) {
      const std::uint32_t oldest = full.front();
      full.pop_front();
      for (std::uint64_t i = 0; i < kBlockPages; ++i) {
        const std::uint32_t kept = holds[oldest * kBlockPages + i];
        if (kept != kNowhere) put(kept);
      }
      empty.push_back(oldest);
    }
    put(page);
    ++asked;
  };
  for (std::uint32_t page = 0; page < kPages; ++page) ask(page);
  for (int i = 0; i < 500'000; ++i)
    ask(static_cast<std::uint32_t>((random = next_xorshift(random)) % kPages));
  written = asked = 0;
  for (int i = 0; i < 500'000; ++i)
    ask(static_cast<std::uint32_t>((random = next_xorshift(random)) % kPages));
  return static_cast<double>(written) / static_cast<double>(asked);
}

TEST(BlockCollection, AmplifiesAsADeviceDoes) {
  for (const double spare : {0.1, 0.25, 1.0})
    EXPECT_NEAR(write_amplification(spare), simulated_amplification(spare),
                0.05 * write_amplification(spare));
  EXPECT_NEAR(write_amplification(1000), 1, 0.01);
}

TEST(BlockCollection, CopiesWhatIsStillValid) {
  BlockCollection blocks(flash(0.25));
  const double amplification = write_amplification(0.25);
  double ns = 0;
  std::uint64_t erases = 0;
  constexpr int kWrites = 10'000;
  for (int i = 0; i < kWrites; ++i) {
    const BlockCollection::Work work = blocks.write(static_cast<std::uint64_t>(i) * 1000, 1, false);
    ns += work.ns;
    erases += work.erases;
  }
  const double copies = kWrites * (amplification - 1);
  EXPECT_NEAR(static_cast<double>(erases), kWrites * amplification / kBlockPages, 1);
  EXPECT_NEAR(ns, static_cast<double>(erases) * 1e6 + copies * 3000, 10);
}

TEST(BlockCollection, WholeBlocksAndSequencesAreErasedAndNotCopied) {
  BlockCollection blocks(flash(0.25));
  EXPECT_DOUBLE_EQ(blocks.write(0, 2 * kBlockPages, false).ns, 2e6);
  EXPECT_DOUBLE_EQ(blocks.write(128, kBlockPages - 1, true).ns, 0);
  EXPECT_DOUBLE_EQ(blocks.write(191, 1, true).ns, 1e6);
}

TEST(BlockCollection, ANewDeviceHasRoom) {
  BlockCollection blocks(flash(1, 100 * kPageBytes));
  for (std::uint64_t i = 0; i < 200; ++i) EXPECT_EQ(blocks.write(i * 3 % 100, 1, false).ns, 0) << i;
  EXPECT_GT(blocks.write(0, 1, false).ns, 0);
}

// As cards of 2008 did.
TEST(BlockCollection, WithoutSpareBlocksEachIsErasedWhereItIsWritten) {
  BlockCollection blocks(flash(0));
  EXPECT_EQ(blocks.write(0, 1, false).erases, 1U);
  EXPECT_EQ(blocks.write(1, 1, true).erases, 0U);
  EXPECT_EQ(blocks.write(70, 64, false).erases, 2U);
  EXPECT_EQ(BlockCollection(PageDevice{}).write(0, 1, false).erases, 0U);
}

}  // namespace
}  // namespace nvmemu
