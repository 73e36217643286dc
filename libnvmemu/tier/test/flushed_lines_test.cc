// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tier/persist_target.h"

namespace nvmemu {
namespace {

constexpr std::size_t kBlockBytes = 256;

const void* at(std::uintptr_t address) { return reinterpret_cast<const void*>(address); }

TEST(FlushedLinesTest, CountsTheLinesAndTheBlocksThatAreTouched) {
  FlushedLines flushed;
  flushed.add(at(0x1000 + 63), 2, kBlockBytes);  // lines 0 and 1 of a block
  const PersistSize within = flushed.take();
  EXPECT_EQ(within.lines, 2U);
  EXPECT_EQ(within.blocks, 1U);
  EXPECT_TRUE(flushed.empty());
  flushed.add(at(0x2000 + 192), 128, kBlockBytes);  // the last line of one, the first of the next
  const PersistSize across = flushed.take();
  EXPECT_EQ(across.lines, 2U);
  EXPECT_EQ(across.blocks, 2U);
}

TEST(FlushedLinesTest, WhatFollowsInABlockIsOneWriteOfIt) {
  FlushedLines flushed;
  for (std::uintptr_t line = 0x1000; line < 0x1000 + 2 * kBlockBytes; line += 64)
    flushed.add(at(line), 64, kBlockBytes);
  EXPECT_EQ(flushed.take().blocks, 2U);
  flushed.add(at(0x1000 + 2 * kBlockBytes - 64), 64, kBlockBytes);  // behind a fence, too
  flushed.add(at(0x1000 + 2 * kBlockBytes), 64, kBlockBytes);
  const PersistSize size = flushed.take();
  EXPECT_EQ(size.lines, 2U);
  EXPECT_EQ(size.blocks, 1U);
}

TEST(FlushedLinesTest, ScatteredLinesAreABlockEach) {
  FlushedLines flushed;
  for (std::uintptr_t line = 0; line < 8; ++line) flushed.add(at(0x10000 * (8 - line)), 8, kBlockBytes);
  EXPECT_EQ(flushed.take().blocks, 8U);
}

TEST(FlushedLinesTest, NothingIsOfNoBlock) {
  FlushedLines flushed;
  flushed.add(at(0x1000), 0, kBlockBytes);
  EXPECT_TRUE(flushed.empty());
}

}  // namespace
}  // namespace nvmemu
