// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/code/unwind_table.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

namespace nvmemu {
namespace {

// A table as linkers write it, of functions that begin so far behind it.
class UnwindTable : public testing::Test {
 protected:
  UnwindTable() {
    table_.push_back(0x3b031b01);
    table_.push_back(0);
    table_.push_back(3);
    for (const std::uint32_t start : {0x1000U, 0x2000U, 0x3000U}) {
      table_.push_back(start);
      table_.push_back(0);
    }
  }
  std::uintptr_t begin() const { return reinterpret_cast<std::uintptr_t>(table_.data()); }
  std::uintptr_t end() const { return begin() + table_.size() * sizeof table_[0]; }
  // How far behind the table; -1: nothing was found.
  long found(std::uintptr_t offset) const {
    const std::uintptr_t start = function_in_table(begin(), end(), begin() + offset);
    return start == 0 ? -1 : static_cast<long>(start - begin());
  }
  std::vector<std::uint32_t> table_;
};

TEST_F(UnwindTable, NamesTheFunctionThatHoldsAnAddress) {
  EXPECT_EQ(found(0xfff), -1);
  EXPECT_EQ(found(0x1000), 0x1000);
  EXPECT_EQ(found(0x2fff), 0x2000);
  EXPECT_EQ(found(0x99999), 0x3000);
}

TEST_F(UnwindTable, OfAnotherEncodingNamesNone) {
  for (const std::uint32_t first : {0x3b031b02U, 0x1b031b01U, 0x3b041b01U, 0xffffffffU}) {
    table_[0] = first;
    EXPECT_EQ(found(0x1000), -1) << first;
  }
}

// A count that leads beyond the object: what is there is not read.
TEST_F(UnwindTable, ThatIsShorterThanItSaysIsNotReadBeyondItsEnd) {
  for (const std::uint32_t count : {4U, 100U, 0x7fffffffU, 0xffffffffU}) {
    table_[2] = count;
    EXPECT_EQ(found(0x99999), -1) << count;
  }
  table_.resize(3);
  EXPECT_EQ(found(0x1000), -1);
  table_.resize(1);
  EXPECT_EQ(found(0x1000), -1);
}

TEST_F(UnwindTable, ThatIsNotSortedNamesNothingBehindTheAddress) {
  table_[3] = 0x5000;
  table_[5] = 0x800;
  table_[7] = 0x4000;
  for (const std::uintptr_t offset : {0x10, 0x900, 0x1000, 0x4500, 0x6000})
    EXPECT_LE(found(offset), static_cast<long>(offset)) << offset;
}

}  // namespace
}  // namespace nvmemu
