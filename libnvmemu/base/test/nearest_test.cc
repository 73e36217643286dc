// SPDX-License-Identifier: Apache-2.0
#include "base/nearest.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace nvmemu {
namespace {

constexpr std::array<std::string_view, 4> kNames{"read_latency", "write_latency", "pcm", "dram"};

TEST(NearestName, FindsWhatWasMeant) {
  struct Case {
    std::string_view text, expected;
  };
  for (const Case& c : {Case{"read_latncy", "read_latency"},   // one missing
                        Case{"raed_latency", "read_latency"},  // two swapped
                        Case{"readlatency", "read_latency"},   //
                        Case{"WRITE_LATENCY", "write_latency"}, Case{"write-latency", "write_latency"},
                        Case{"pmc", "pcm"}, Case{"pc", "pcm"}, Case{"drams", "dram"}, Case{"dram", "dram"}}) {
    EXPECT_EQ(nearest_name(c.text, kNames), c.expected) << c.text;
  }
}

TEST(NearestName, SuggestsNothingSilly) {
  for (const std::string_view text : {"", "x", "optane", "bandwidth", "pxyz", "latency_of_reads"}) {
    EXPECT_EQ(nearest_name(text, kNames), "") << text;
  }
  EXPECT_EQ(nearest_name("pcm", {}), "");
}

TEST(NearestName, TakesTheFirstOfEquals) {
  constexpr std::array<std::string_view, 2> names{"cat", "bat"};
  EXPECT_EQ(nearest_name("rat", names), "cat");
}

TEST(NearestName, IsQuickForLongText) { EXPECT_EQ(nearest_name(std::string(10'000'000, 'd'), kNames), ""); }

}  // namespace
}  // namespace nvmemu
