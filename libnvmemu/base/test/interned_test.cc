// SPDX-License-Identifier: Apache-2.0
#include "base/interned.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

namespace nvmemu {
namespace {

TEST(Interned, EachHasOneNumber) {
  Interned<int, 4> values;
  const auto first = values.number_of(7), second = values.number_of(8);
  ASSERT_TRUE(first && second);
  EXPECT_NE(first, second);
  EXPECT_EQ(values.number_of(7), first);
  EXPECT_EQ(values[*first], 7);
  EXPECT_EQ(values[*second], 8);
}

TEST(Interned, SaysWhenThereAreTooMany) {
  Interned<int, 2> values;
  EXPECT_TRUE(values.number_of(1) && values.number_of(2));
  EXPECT_FALSE(values.number_of(3));
  EXPECT_TRUE(values.number_of(1));
}

TEST(Interned, ManyMayAddAtOnce) {
  constexpr int kThreads = 4, kValues = 50;
  Interned<int, kThreads * kValues> values;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int value = 0; value < kValues; ++value) EXPECT_EQ(values[*values.number_of(value)], value);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<std::size_t> numbers;
  for (int value = 0; value < kValues; ++value) numbers.insert(*values.number_of(value));
  EXPECT_EQ(numbers.size(), std::size_t{kValues});
}

}  // namespace
}  // namespace nvmemu
