// SPDX-License-Identifier: Apache-2.0
#include "counters/quantities.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace nvmemu {
namespace {

// All members are doubles. Of what is neither load, store, flush nor fence nothing waits for memory.
static_assert(sizeof(Quantities) / sizeof(double) == std::size(kQuantities) + 1);

TEST(QuantitiesTest, EachRowIsOfAMemberAndANameOfItsOwn) {
  Quantities quantities;
  std::set<std::string> names;
  std::set<const double*> members;
  for (const QuantityRow& row : kQuantities) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(members.insert(&row.of(quantities)).second) << row.name;
    row.of(quantities) = static_cast<double>(names.size());
    EXPECT_EQ(row.value(quantities), static_cast<double>(names.size())) << row.name;
  }
}

TEST(QuantitiesTest, RowsAreOfWhatTheySay) {
  Quantities quantities;
  quantities.cpu_ns = 1;
  quantities.kind_stall_ns[StallKind::kStore] = 2;
  quantities.held_ns[StallKind::kOther] = 3;
  quantities.loads.remote = 4;
  for (const QuantityRow& row : kQuantities) {
    const std::string name = row.name;
    const double expected = name == "cpu_ns"           ? 1
                            : name == "store_stall_ns" ? 2
                            : name == "other_held_ns"  ? 3
                            : name == "remote"         ? 4
                                                       : 0;
    EXPECT_EQ(row.value(quantities), expected) << name;
  }
}

// An error of shares is the same in each epoch of a thread, and another's is independent of it.
TEST(QuantitiesTest, EpochsAddUpAndThreadsErrorsInQuadrature) {
  Quantities one;
  for (const QuantityRow& row : kQuantities) row.of(one) = 3;
  Quantities thread = one;
  add_epoch(thread, one);
  for (const QuantityRow& row : kQuantities) EXPECT_EQ(row.value(thread), 6) << row.name;
  Quantities both;
  both.share_error_ns = 8;
  add_thread(both, thread);
  EXPECT_EQ(both.share_error_ns, 10);
  EXPECT_EQ(both.stall_ns, 6);
  EXPECT_EQ(both.stall_variance_ns2(), 6 + 100);
}

TEST(QuantitiesTest, SourcesTellWhatTheyCount) {
  EXPECT_TRUE(is_told(0, 0));
  EXPECT_TRUE(is_told(kCountsSamples, kSamplerCounts));
  EXPECT_FALSE(is_told(kCountsSamples, kCountsStall | kCountsHits));
  EXPECT_TRUE(is_told(kCountsHits, kCountsStall | kCountsHits));
  EXPECT_FALSE(is_told(kCountsHits, kSamplerCounts));
}

}  // namespace
}  // namespace nvmemu
