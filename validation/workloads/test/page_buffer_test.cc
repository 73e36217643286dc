// SPDX-License-Identifier: Apache-2.0
#include "workloads/page_buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace nvmemu::workloads {
namespace {

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

TEST(PageBuffer, IsZeroedAndAlignedToAHugePage) {
  const auto buffer = PageBuffer::create(3 * kMebibyte, PageSize::k2MiB);
  ASSERT_TRUE(buffer);
  EXPECT_EQ(buffer->bytes(), 3 * kMebibyte);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer->data()) % (2 * kMebibyte), 0U);
  EXPECT_TRUE(std::all_of(buffer->data(), buffer->data() + buffer->bytes(),
                          [](std::byte byte) { return byte == std::byte{0}; }));
}

TEST(PageBuffer, HasSmallPagesWhereTheyAreAskedFor) {
  const auto buffer = PageBuffer::create(4 * kMebibyte, PageSize::k4KiB);
  ASSERT_TRUE(buffer);
  EXPECT_FALSE(buffer->has_huge_pages());
}

TEST(PageBuffer, SaysWhatCannotBeMapped) {
  const auto buffer = PageBuffer::create(std::size_t{1} << 55, PageSize::k4KiB);
  ASSERT_FALSE(buffer);
  EXPECT_NE(buffer.error().message.find("cannot map"), std::string::npos) << buffer.error().message;
  EXPECT_NE(buffer.error().hint, "");
}

TEST(PageBuffer, MovesWithItsMemory) {
  auto first = PageBuffer::create(kMebibyte, PageSize::k4KiB);
  ASSERT_TRUE(first);
  std::byte* data = first->data();
  const PageBuffer second = std::move(*first);
  EXPECT_EQ(second.data(), data);
  EXPECT_EQ(second.data()[kMebibyte - 1], std::byte{0});
}

}  // namespace
}  // namespace nvmemu::workloads
