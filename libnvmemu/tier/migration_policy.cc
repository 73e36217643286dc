// SPDX-License-Identifier: Apache-2.0
#include "tier/migration_policy.h"

#include <algorithm>
#include <array>

namespace nvmemu {
namespace {

std::uint64_t nothing(const RegionWindow&) noexcept { return 0; }

std::uint64_t heat(const RegionWindow& region) noexcept { return region.heat; }

std::uint64_t heat_in_both(const RegionWindow& region) noexcept {
  return region.waited > 0 && region.waited_before > 0 ? heat(region) : 0;
}

constexpr std::array<MigrationPolicy, 3> kPolicies{
    {{"none", heat, nothing}, {"hot", heat, heat}, {"two-touch", heat, heat_in_both}}};

// The coldest first of those that could go, and the hottest of those that could come; of the same worth by
// address, so that it does not matter how they came.
struct Sides {
  std::span<RegionWindow> leaving, coming;
};

Sides sort_sides(const MigrationPolicy& policy, std::span<RegionWindow> regions) noexcept {
  const auto middle = std::partition(regions.begin(), regions.end(),
                                     [](const RegionWindow& region) { return region.is_fast; });
  std::sort(regions.begin(), middle, [&](const RegionWindow& a, const RegionWindow& b) {
    const std::uint64_t worth_a = policy.worth_keeping(a), worth_b = policy.worth_keeping(b);
    return worth_a != worth_b ? worth_a < worth_b : a.address < b.address;
  });
  std::sort(middle, regions.end(), [&](const RegionWindow& a, const RegionWindow& b) {
    const std::uint64_t worth_a = policy.worth_promoting(a), worth_b = policy.worth_promoting(b);
    return worth_a != worth_b ? worth_a > worth_b : a.address < b.address;
  });
  return {{regions.begin(), middle}, {middle, regions.end()}};
}

}  // namespace

std::span<const MigrationPolicy> migration_policies() noexcept { return kPolicies; }

const MigrationPolicy* find_migration_policy(std::string_view name) noexcept {
  const auto found = std::ranges::find(kPolicies, name, &MigrationPolicy::name);
  return found == kPolicies.end() ? nullptr : found;
}

std::size_t plan_migration(const MigrationPolicy& policy, std::span<RegionWindow> regions,
                           const MigrationRoom& room) noexcept {
  const auto [leaving, coming] = sort_sides(policy, regions);
  std::uint64_t used = 0, moved = 0;
  for (RegionWindow& region : regions) {
    region.moves = false;
    if (region.is_fast) used += region.bytes;
  }
  std::size_t left = 0;
  for (RegionWindow& region : coming) {
    const std::uint64_t worth = policy.worth_promoting(region);
    std::size_t to_leave = left;
    std::uint64_t used_then = used, moved_then = moved + region.bytes;
    while (used_then + region.bytes > room.fast_bytes && to_leave < leaving.size() &&
           policy.worth_keeping(leaving[to_leave]) < worth / 2) {
      used_then -= leaving[to_leave].bytes;
      moved_then += leaving[to_leave++].bytes;
    }
    if (worth == 0 || used_then + region.bytes > room.fast_bytes || moved_then > room.most_bytes) break;
    for (; left < to_leave; ++left) leaving[left].moves = true;
    region.moves = true;
    used = used_then + region.bytes;
    moved = moved_then;
  }
  const auto end =
      std::partition(regions.begin(), regions.end(), [](const RegionWindow& region) { return region.moves; });
  // What makes room goes before what needs it.
  std::partition(regions.begin(), end, [](const RegionWindow& region) { return region.is_fast; });
  return static_cast<std::size_t>(end - regions.begin());
}

}  // namespace nvmemu
