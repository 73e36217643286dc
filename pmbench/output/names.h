// SPDX-License-Identifier: Apache-2.0
// What values of enumerations are called in files; those that the original has, by its names.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "run/result.h"

namespace nvmemu::pmbench {

template <typename Enum>
struct Names;  // kAll: each value with its name

template <>
struct Names<AccessMode> {
  static constexpr std::array<std::pair<AccessMode, std::string_view>, 2> kAll{
      {{AccessMode::kHisto, "histo"}, {AccessMode::kTouch, "touch"}}};
};

template <>
struct Names<TimestampKind> {
  static constexpr std::array<std::pair<TimestampKind, std::string_view>, 4> kAll{
      {{TimestampKind::kRdtscp, "rdtscp"},
       {TimestampKind::kRdtsc, "rdtsc"},
       {TimestampKind::kPerfCounter, "perfc"},
       {TimestampKind::kArmCounter, "cntvct"}}};
};

template <>
struct Names<MemoryKind> {
  static constexpr std::array<std::pair<MemoryKind, std::string_view>, 5> kAll{
      {{MemoryKind::kAnonymous, "anonymous"},
       {MemoryKind::kFile, "file"},
       {MemoryKind::kShared, "shared"},
       {MemoryKind::kMemfd, "memfd"},
       {MemoryKind::kHugetlb, "hugetlb"}}};
};

template <>
struct Names<HugePages> {
  static constexpr std::array<std::pair<HugePages, std::string_view>, 3> kAll{
      {{HugePages::kOff, "off"}, {HugePages::kOn, "on"}, {HugePages::kAsIs, "as-is"}}};
};

template <>
struct Names<AccessClass> {
  static constexpr std::array<std::pair<AccessClass, std::string_view>, kAccessClasses> kAll{
      {{AccessClass::kHit, "hit"},
       {AccessClass::kMinorFault, "minor_fault"},
       {AccessClass::kMajorFault, "major_fault"}}};
};

// Of a table of descriptions, each with a `name`.
template <typename Enum, typename Description, std::size_t kCount>
constexpr auto names_from(const std::array<Description, kCount>& descriptions, Enum Description::*value) {
  std::array<std::pair<Enum, std::string_view>, kCount> names{};
  for (std::size_t i = 0; i < kCount; ++i) names[i] = {descriptions[i].*value, descriptions[i].name};
  return names;
}

template <typename Enum>
constexpr std::string_view name_of(Enum value) {
  for (const auto& [candidate, name] : Names<Enum>::kAll) {
    if (candidate == value) return name;
  }
  return "unknown";
}

template <typename Enum>
constexpr std::optional<Enum> find_name(std::string_view name) {
  for (const auto& [value, candidate] : Names<Enum>::kAll) {
    if (candidate == name) return value;
  }
  return std::nullopt;
}

}  // namespace nvmemu::pmbench
