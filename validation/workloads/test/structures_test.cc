// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <limits>
#include <string>
#include <vector>

#include "workloads/structures/scatter.h"
#include "workloads/structures/structure.h"

namespace nvmemu::workloads {
namespace {

constexpr StructureMemory kSmall{
    .size_bytes = std::uint64_t{1} << 20, .page_size = PageSize::k4KiB, .seed = 1};

TEST(Scatter, IsAPermutationThatCanBeUndone) {
  for (const unsigned bits : {0U, 1U, 2U, 5U, 12U}) {
    const Scatter scatter(bits, 7);
    std::vector<bool> seen(scatter.count());
    for (std::uint64_t i = 0; i < scatter.count(); ++i) {
      const std::uint64_t place = scatter.place(i);
      ASSERT_LT(place, scatter.count());
      EXPECT_FALSE(seen[place]);
      seen[place] = true;
      EXPECT_EQ(scatter.index(place), i);
    }
  }
}

TEST(Scatter, LeavesNoStridesInMemory) {
  const Scatter scatter(16, 3);
  std::size_t repeated = 0;
  std::int64_t last = 0;
  for (std::uint64_t i = 0; i + 1 < scatter.count(); ++i) {
    const auto stride = static_cast<std::int64_t>(scatter.place(i + 1) - scatter.place(i));
    repeated += stride == last ? 1U : 0U;
    last = stride;
  }
  EXPECT_LT(repeated, scatter.count() / 100);
}

class EachStructure : public testing::TestWithParam<StructureKind> {
 protected:
  static std::unique_ptr<Structure> create(std::uint64_t seed = 1) {
    StructureMemory memory = kSmall;
    memory.seed = seed;
    auto structure = GetParam().create(memory);
    EXPECT_TRUE(structure);
    return *std::move(structure);
  }
};

TEST_P(EachStructure, ComesToTheSameResultForTheSameSeedOnly) {
  const auto first = create();
  const auto again = create();
  const auto other = create(2);
  for (const auto* structure : {&first, &again, &other}) (*structure)->run(20'000);
  EXPECT_EQ(first->checksum(), again->checksum());
  EXPECT_NE(first->checksum(), other->checksum());
}

TEST_P(EachStructure, DoesInItsTwinWhatItDoesByItself) {
  const auto plain = create();
  const auto twin = create();
  TimedAccess access(std::numeric_limits<std::uint64_t>::max());
  plain->run(20'000);
  twin->run_timed(20'000, access);
  EXPECT_EQ(plain->checksum(), twin->checksum());
  EXPECT_GE(access.accesses(), 20'000u);
  EXPECT_EQ(access.from_memory(), 0u);  // nothing takes longer than for ever
}

// Those whose accesses overlap may do a few operations more at once, to the end of a row or an edge list.
TEST(DependentStructures, GoOnWhereTheyStopped) {
  for (const StructureKind& kind : kStructures) {
    if (kind.accesses == Accesses::kOverlapping) continue;
    const auto whole = kind.create(kSmall);
    const auto parts = kind.create(kSmall);
    (*whole)->run(3000);
    for (int part = 0; part < 3; ++part) (*parts)->run(1000);
    EXPECT_EQ((*whole)->checksum(), (*parts)->checksum()) << kind.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, EachStructure, testing::ValuesIn(kStructures), [](const auto& kind) {
  std::string name(kind.param.name);
  std::erase_if(name, [](unsigned char c) { return std::isalnum(c) == 0; });
  return name;
});

std::uint64_t accesses_of(const char* name, std::uint64_t operations) {
  const auto structure = find_structure(name)->create(kSmall);
  TimedAccess access(0);
  (*structure)->run_timed(operations, access);
  EXPECT_EQ(access.from_memory(), access.accesses());  // everything takes longer than nothing
  return access.accesses();
}

// 1 MiB is 16384 lines: 14 levels of a binary tree, of which looking a random key up takes 13 on average; and
// of a B-tree whose root takes what is left of a level, 2, 4, 4 and 4 bits.
TEST(Accesses, AreAsManyAsTheStructureHasLevels) {
  EXPECT_EQ(accesses_of("list", 1000), 1000u);
  EXPECT_EQ(accesses_of("counted-list", 1000), 1000u);
  EXPECT_EQ(accesses_of("random-walk", 1000), 2000u);
  EXPECT_EQ(accesses_of("b-tree", 1000), 5000u);
  EXPECT_NEAR(static_cast<double>(accesses_of("binary-tree", 10'000)) / 10'000, 13, 0.1);
}

TEST(FindStructure, KnowsNoOther) {
  EXPECT_NE(find_structure("list"), nullptr);
  EXPECT_EQ(find_structure("lists"), nullptr);
}

}  // namespace
}  // namespace nvmemu::workloads
