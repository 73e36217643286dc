// SPDX-License-Identifier: Apache-2.0
#include "areas/area_pattern.h"

#include <algorithm>
#include <cmath>

namespace nvmemu::pmbench {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kBlock = 16384;

// In the order of AreaPatternKind.
struct Shape {
  std::uint64_t step, bytes, new_bytes;
  bool in_random_order;
};
constexpr Shape kShapes[] = {
    {kBlock, kBlock, 0, false},
    {2 * kBlock, kBlock, 0, false},
    {kPage, kPage, 0, true},
    {2 * kPage, kPage, kBlock, false},  // every other page of what is mapped before
};

const Shape& shape_of(AreaPatternKind kind) { return kShapes[static_cast<std::size_t>(kind)]; }

}  // namespace

AreaPattern::AreaPattern(AreaPatternKind kind, std::uint64_t operations, std::uint64_t seed) noexcept
    : kind_(kind), operations_(operations), order_(operations, seed) {}

AreaOperation AreaPattern::operation(std::uint64_t i) const noexcept {
  const Shape& shape = shape_of(kind_);
  const std::uint64_t place = shape.in_random_order ? order_(i) : i;
  return {place * shape.step, shape.bytes, shape.new_bytes};
}

// In one piece: mapped page by page, as the paper did, it is one area all the same.
std::optional<AreaOperation> AreaPattern::preparation() const noexcept {
  if (!resizes()) return std::nullopt;
  return AreaOperation{.offset = 0, .bytes = room_bytes(), .new_bytes = 0};
}

bool AreaPattern::resizes() const noexcept { return shape_of(kind_).new_bytes > 0; }

std::uint64_t AreaPattern::room_bytes() const noexcept { return operations_ * shape_of(kind_).step; }

std::uint64_t AreaPattern::moved_bytes() const noexcept { return operations_ * shape_of(kind_).new_bytes; }

std::uint64_t AreaPattern::areas_at_end() const noexcept {
  return kind_ == AreaPatternKind::kStrided || kind_ == AreaPatternKind::kFrag ? operations_ : 1;
}

std::uint64_t AreaPattern::most_areas(std::uint64_t unmapped) const noexcept {
  constexpr std::uint64_t kFew = 8;  // that what moves is in
  const bool is_one_each = kind_ == AreaPatternKind::kStrided;
  const std::uint64_t after = areas_at_end() + (is_one_each ? 0 : std::min(unmapped, operations_)) + kFew;
  if (kind_ != AreaPatternKind::kRandom) return after;
  // The variance of n / 4 is at most n / 16: four standard deviations.
  const auto n = static_cast<double>(operations_);
  return std::max(after, static_cast<std::uint64_t>(std::ceil(n / 4 + std::sqrt(n))) + 1);
}

}  // namespace nvmemu::pmbench
