// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/account/huge_pages.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "host/chase_buffer.h"

namespace nvmemu {
namespace {

constexpr std::size_t kHugeBytes = ChaseBuffer::kHugePageBytes;

// Memory that was asked for in such pages. Which it got is told by the faults that it took: another way.
ChaseBuffer memory(Pages pages) { return ChaseBuffer::of_all_lines(kHugeBytes, pages).value(); }

std::uintptr_t at(const ChaseBuffer& buffer, std::size_t offset) {
  return reinterpret_cast<std::uintptr_t>(buffer.data()) + offset;
}

TEST(HugePages, AreNotFoundWhereTheyWereRefused) {
  const ChaseBuffer small = memory(Pages::kSmall);
  EXPECT_FALSE(in_huge_pages(std::array{at(small, 0), at(small, 5000)}));
}

TEST(HugePages, AreFoundAtAnyAddressInThem) {
  const ChaseBuffer huge = memory(Pages::kHuge);
  if (!huge.has_huge_pages()) GTEST_SKIP() << "needs huge pages";
  const bool found = in_huge_pages(std::array{at(huge, 0), at(huge, 5000), at(huge, kHugeBytes - 1)});
  if (!found && !in_huge_pages(std::array{at(huge, 0)}))
    GTEST_SKIP() << "needs a kernel that tells which pages are huge (6.7)";
  EXPECT_TRUE(found);
}

TEST(HugePages, AreAllOrNone) {
  const ChaseBuffer huge = memory(Pages::kHuge);
  const ChaseBuffer small = memory(Pages::kSmall);
  EXPECT_FALSE(in_huge_pages(std::array{at(huge, 0), at(small, 0)}));
  EXPECT_FALSE(in_huge_pages({}));
}

TEST(HugePages, AreNotWhereNothingIs) {
  EXPECT_FALSE(in_huge_pages(std::array{std::uintptr_t{0}}));
  EXPECT_FALSE(in_huge_pages(std::array{~std::uintptr_t{0}}));
}

}  // namespace
}  // namespace nvmemu
