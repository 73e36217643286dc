// SPDX-License-Identifier: Apache-2.0
// The real kernel, by the smallest numbers that tell.
#include "areas/mapper.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>

#include "areas/area_round.h"

namespace nvmemu::pmbench {
namespace {

class KernelAreas : public testing::TestWithParam<AreaPatternKind> {
 protected:
  std::unique_ptr<Mapper> mapper_ = make_mapper(choose_timer());
};

TEST_P(KernelAreas, AreAsManyAsThePatternSays) {
  constexpr std::uint64_t kMapped = 4096;
  const AreaPattern pattern(GetParam(), kMapped, 1);
  const std::atomic<bool> stop{false};
  const std::uint64_t before = mapper_->areas();
  const auto round = measure_round(
      pattern, {}, *mapper_, [] { return read_area_slabs(); }, stop);
  ASSERT_TRUE(round) << round.error().message;
  const auto end = static_cast<double>(round->areas_at_band_end.back());
  EXPECT_NEAR(end, static_cast<double>(pattern.areas_at_end()),
              GetParam() == AreaPatternKind::kFrag ? 40 : 1);
  if (GetParam() == AreaPatternKind::kRandom) {
    EXPECT_NEAR(static_cast<double>(round->areas_half_way), kMapped / 4.0, 70);  // 4 standard deviations
  }
  EXPECT_NEAR(static_cast<double>(mapper_->areas()), static_cast<double>(before), 4);
}

INSTANTIATE_TEST_SUITE_P(Patterns, KernelAreas,
                         testing::Values(AreaPatternKind::kCont, AreaPatternKind::kStrided,
                                         AreaPatternKind::kRandom, AreaPatternKind::kFrag),
                         [](const auto& kind) { return std::string(name_of(kind.param)); });

TEST(KernelMapper, RefusesWhatIsMapped) {
  const auto mapper = make_mapper(choose_timer());
  const Result<std::uintptr_t> room = mapper->find_room(16384);
  ASSERT_TRUE(room);
  const TimedCall first = mapper->map(*room, 16384);
  EXPECT_EQ(first.error, 0);
  EXPECT_EQ(first.address, *room);
  EXPECT_EQ(mapper->map(*room, 16384).error, EEXIST);
  EXPECT_EQ(mapper->touch(*room + 4096).error, 0);
  EXPECT_EQ(mapper->fork_process().error, 0);
  EXPECT_EQ(mapper->unmap(*room, 16384).error, 0);
}

TEST(KernelMapper, SaysThatThereIsNoRoom) {
  const Result<std::uintptr_t> room = make_mapper(choose_timer())->find_room(std::uint64_t{1} << 60);
  ASSERT_FALSE(room);
  EXPECT_NE(room.error().message.find("no room for"), std::string::npos) << room.error().message;
}

}  // namespace
}  // namespace nvmemu::pmbench
