// SPDX-License-Identifier: Apache-2.0
#include "system/kernel_files.h"

#include <gtest/gtest.h>

namespace nvmemu::pmbench {
namespace {

TEST(KeyedNumbers, AreReadWhateverTheirOrder) {
  const KeyedNumbers numbers = parse_keyed(
      "MemTotal:       24684012 kB\nMemAvailable: 7 kB\nMemFree:\t12 kB\npgmajfault 99\n\nnonsense\nkey x\n");
  EXPECT_EQ(number_of(numbers, "MemTotal"), 24'684'012);
  EXPECT_EQ(number_of(numbers, "MemFree"), 12);
  EXPECT_EQ(number_of(numbers, "pgmajfault"), 99);
  EXPECT_EQ(number_of(numbers, "key"), 0);
  EXPECT_EQ(numbers.size(), 4);
}

// A key that another begins with is another's.
TEST(KeyedNumbers, AreNotMistakenForOneAnother) {
  const KeyedNumbers numbers =
      parse_keyed("Active(anon): 5 kB\nActive: 3 kB\nSwapCached: 1 kB\nCached: 2 kB\n");
  EXPECT_EQ(number_of(numbers, "Active"), 3);
  EXPECT_EQ(number_of(numbers, "Cached"), 2);
}

TEST(KeyedNumbers, AreReadFromTheEndOfALongFileToo) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "filler_" + std::to_string(i) + " 1\n";
  text += "pgmajfault 18446744073709551615";  // no line end
  EXPECT_EQ(number_of(parse_keyed(text), "pgmajfault"), 18446744073709551615U);
}

TEST(KernelFiles, ThatAreNotThereAreEmpty) {
  EXPECT_EQ(read_text("/proc/no-such-file"), "");
  EXPECT_FALSE(read_number("/proc/no-such-file"));
  EXPECT_FALSE(write_text("/proc/no-such-file", "1"));
}

TEST(KernelFiles, OfThisMachineHaveTheKeys) {
  EXPECT_GT(number_of(parse_keyed(read_text("/proc/meminfo")), "MemTotal"), 0);
  EXPECT_TRUE(parse_keyed(read_text("/proc/vmstat")).contains("pgmajfault"));
}

}  // namespace
}  // namespace nvmemu::pmbench
