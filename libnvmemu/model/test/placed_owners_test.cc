// SPDX-License-Identifier: Apache-2.0
#include "model/placed_owners.h"

#include <gtest/gtest.h>

namespace nvmemu {
namespace {

constexpr double kMiB = 1 << 20;

RecordedOwner owner(double misses, std::uint32_t calls, double least_bytes, double most_bytes) {
  RecordedOwner made;
  made.waited.fill(misses / RegionHeat::kParts * RegionHeat::kWhole);
  made.misses = misses;
  made.calls = calls;
  made.least_bytes = least_bytes;
  made.most_bytes = most_bytes;
  return made;
}

// A tenth of the waits is for what is no block, and on node 2; the rest for blocks of 1 MiB, of 4 MiB, and of
// 5 to 7 MiB.
Record record() {
  Record made;
  made.info.counts = kSamplerCounts;
  made.info.base_ns = 100;
  made.owners = {owner(100, 0, 0, 0), owner(200, 1, kMiB, kMiB), owner(400, 2, 4 * kMiB, 4 * kMiB),
                 owner(300, 2, 5 * kMiB, 7 * kMiB)};
  made.owners[0].node = 2;
  made.calls[1] = {{"libindex.so.2", ""}, {"app", "main"}};
  made.calls[2] = {{"app", "_ZN5Index5buildEi"}, {"app", "main"}};
  RecordedEpoch epoch{{0, 0, 0}, 0, 100e6, {}};
  epoch.counts.stall_ns = 60e6;
  made.epochs.push_back(epoch);
  return made;
}

double share_of(const OwnerRule& rule) { return PlacedOwners(record()).of(rule).of_all; }

TEST(PlacedOwners, ArePlacedBySize) {
  EXPECT_NEAR(share_of({.least_block_bytes = 1 << 16}), 0.9, 1e-12);
  EXPECT_NEAR(share_of({.least_block_bytes = 1 << 20}), 0.9, 1e-12);
  EXPECT_NEAR(share_of({.least_block_bytes = (1 << 20) + 1}), 0.7, 1e-12);
  EXPECT_NEAR(share_of({.least_block_bytes = 8 << 20}), 0, 1e-12);
}

TEST(PlacedOwners, OfWhichSomeAreLargerAreHalfThere) {
  const SlowShare share = PlacedOwners(record()).of({.least_block_bytes = 6 << 20});
  EXPECT_NEAR(share.of_all, 0.15, 1e-12);
  EXPECT_GT(share.error_95, 0.15);
}

TEST(PlacedOwners, ArePlacedByWhoeverIsAmongTheirCalls) {
  EXPECT_NEAR(share_of({.least_block_bytes = 1, .callers = {"Index::build"}}), 0.7, 1e-12);
  EXPECT_NEAR(share_of({.least_block_bytes = 1, .callers = {"libindex"}}), 0.2, 1e-12);
  EXPECT_NEAR(share_of({.least_block_bytes = 1, .callers = {"main"}}), 0.9, 1e-12);
  EXPECT_NEAR(share_of({.least_block_bytes = 1, .callers = {"libindex", "build"}}), 0.9, 1e-12);
  EXPECT_NEAR(share_of({.least_block_bytes = 5 << 20, .callers = {"build"}}), 0.3, 1e-12);
}

TEST(PlacedOwners, ArePlacedByNode) {
  EXPECT_NEAR(share_of({.node = 2}), 0.1, 1e-12);
  EXPECT_EQ(share_of({.node = 1}), 0);
}

TEST(PlacedOwners, KnowOfWhatARuleSpeaks) {
  const PlacedOwners owners(record());
  EXPECT_TRUE(owners.knows({.least_block_bytes = 1, .callers = {"libindex"}}));
  EXPECT_FALSE(owners.knows({.least_block_bytes = 2 << 20, .callers = {"libindex"}}));
  EXPECT_FALSE(owners.knows({.least_block_bytes = 1, .callers = {"libother"}}));
  EXPECT_EQ(owners.misses(), 1000);
}

}  // namespace
}  // namespace nvmemu
