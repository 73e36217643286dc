// SPDX-License-Identifier: Apache-2.0
#include "atomic_set.h"

#include <gtest/gtest.h>

namespace nvmemu::preload {
namespace {

AtomicSet<128> numbers;

TEST(AtomicSet, HoldsWhatWasAddedUntilItIsRemoved) {
  EXPECT_FALSE(numbers.contains(42));
  EXPECT_TRUE(numbers.add(42));
  EXPECT_TRUE(numbers.add(42));
  EXPECT_TRUE(numbers.contains(42));
  EXPECT_TRUE(numbers.remove(42));
  EXPECT_FALSE(numbers.remove(42));
  EXPECT_FALSE(numbers.contains(42));
}

// What stands for a free place, and for one that was given back: a thread pointer that could not be asked for
// is 0.
TEST(AtomicSet, HoldsNeitherZeroNorOne) {
  ASSERT_TRUE(numbers.add(43) && numbers.remove(43));
  for (const std::uintptr_t number : {0, 1}) {
    EXPECT_FALSE(numbers.contains(number));
    EXPECT_FALSE(numbers.add(number));
    EXPECT_FALSE(numbers.contains(number));
    EXPECT_FALSE(numbers.remove(number));
  }
}

TEST(AtomicSet, SaysWhenItIsFull) {
  static AtomicSet<64> few;
  for (std::uintptr_t number = 2; number < 66; ++number) EXPECT_TRUE(few.add(number));
  EXPECT_FALSE(few.add(66));
  ASSERT_TRUE(few.remove(2));
  EXPECT_TRUE(few.add(66));
}

}  // namespace
}  // namespace nvmemu::preload
