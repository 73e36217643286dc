// SPDX-License-Identifier: Apache-2.0
// The catalogue's parts, one file each; and how their tables are put together.
#pragma once

#include <algorithm>
#include <array>

#include "counters/pmu/catalogue.h"

namespace nvmemu {

std::span<const Microarchitecture> intel_microarchitectures() noexcept;
std::span<const Microarchitecture> amd_microarchitectures() noexcept;
std::span<const Microarchitecture> arm_microarchitectures() noexcept;

// What the architecture promises of processors that are in no table.
const Microarchitecture& any_intel() noexcept;
const Microarchitecture& any_arm() noexcept;

inline constexpr auto kWeighted = Formula::kWeighted;
inline constexpr auto kFair = Quality::kFair;
inline constexpr auto kRough = Quality::kRough;

// The events of several tables, in their order.
template <std::size_t... kSizes>
constexpr auto join(const std::array<Event, kSizes>&... tables) {
  std::array<Event, (kSizes + ...)> joined{};
  auto at = joined.begin();
  ((at = std::copy(tables.begin(), tables.end(), at)), ...);
  return joined;
}

// The same encodings for a design that libpfm4 4.13 has no table of.
template <std::size_t kSize>
constexpr std::array<Event, kSize> as_absent(std::array<Event, kSize> events) {
  for (Event& event : events) event.origin = Origin::kAbsent;
  return events;
}

}  // namespace nvmemu
