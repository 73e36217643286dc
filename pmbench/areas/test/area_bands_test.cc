// SPDX-License-Identifier: Apache-2.0
#include "areas/area_bands.h"

#include <gtest/gtest.h>

namespace nvmemu::pmbench {
namespace {

std::vector<std::uint64_t> ends(std::uint64_t operations) {
  std::vector<std::uint64_t> found;
  std::uint64_t begin = 0;
  for (const AreaBandRange& band : area_bands(operations)) {
    EXPECT_EQ(band.begin, begin);
    EXPECT_LT(band.begin, band.end);
    found.push_back(begin = band.end);
  }
  return found;
}

using Ends = std::vector<std::uint64_t>;

TEST(AreaBands, AreOctavesUpToTheLastOperation) {
  EXPECT_EQ(ends(4096), (Ends{1024, 2048, 4096}));
  EXPECT_EQ(ends(60'000), (Ends{1024, 2048, 4096, 8192, 16384, 32768, 60'000}));
}

TEST(AreaBands, HaveNoShortLastOne) {
  EXPECT_EQ(ends(2049), (Ends{1024, 2049}));
  EXPECT_EQ(ends(2560), (Ends{1024, 2048, 2560}));
}

TEST(AreaBands, AreOneOfFewOperations) {
  EXPECT_EQ(ends(1), (Ends{1}));
  EXPECT_EQ(ends(1023), (Ends{1023}));
}

}  // namespace
}  // namespace nvmemu::pmbench
