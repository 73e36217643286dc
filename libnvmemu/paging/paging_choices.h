// SPDX-License-Identifier: Apache-2.0
// What can be chosen of how a pager works, by name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/nearest.h"
#include "base/quote.h"
#include "base/result.h"

namespace nvmemu {

enum class LayoutKind : std::uint8_t { kLog, kInPlace, kScattered };

enum class ReadAheadKind : std::uint8_t { kNone, kWindow, kAdaptive };
enum class PolicyKind : std::uint8_t { kFifo, kRandom, kClock };
// Who brings a page that is missing: the thread that touched it, in a signal handler; or one of the
// emulator's.
enum class HandlerKind : std::uint8_t { kSignal, kThread };
// How the file for pages is read and written: past the page cache (O_DIRECT), through it, or past it where
// that can be.
enum class StoreKind : std::uint8_t { kAuto, kDirect, kCached };

inline constexpr auto kLayoutNames = std::to_array<std::string_view>({"log", "in-place", "scattered"});
inline constexpr auto kReadAheadNames = std::to_array<std::string_view>({"none", "window", "adaptive"});
inline constexpr auto kPolicyNames = std::to_array<std::string_view>({"fifo", "random", "clock"});
inline constexpr auto kHandlerNames = std::to_array<std::string_view>({"signal", "thread"});
inline constexpr auto kStoreNames = std::to_array<std::string_view>({"auto", "direct", "cached"});

constexpr const auto& names_of(LayoutKind /*any*/) noexcept { return kLayoutNames; }
constexpr const auto& names_of(ReadAheadKind /*any*/) noexcept { return kReadAheadNames; }
constexpr const auto& names_of(PolicyKind /*any*/) noexcept { return kPolicyNames; }
constexpr const auto& names_of(HandlerKind /*any*/) noexcept { return kHandlerNames; }
constexpr const auto& names_of(StoreKind /*any*/) noexcept { return kStoreNames; }

struct PagingChoices {
  LayoutKind layout = LayoutKind::kLog;
  ReadAheadKind read_ahead = ReadAheadKind::kNone;
  PolicyKind policy = PolicyKind::kFifo;
  HandlerKind handler = HandlerKind::kSignal;
  StoreKind store = StoreKind::kAuto;
};

// What came of StoreKind: where pages lie that are not in DRAM. In the page cache, and in a file system in
// memory, they are in DRAM all the same.
enum class StoreMedium : std::uint8_t { kDirect, kPageCache, kMemory };
inline constexpr auto kMediumNames = std::to_array<std::string_view>({"direct", "page-cache", "memory"});
constexpr const auto& names_of(StoreMedium /*any*/) noexcept { return kMediumNames; }

template <typename Kind>
constexpr std::string_view name_of(Kind kind) noexcept {
  return names_of(kind)[static_cast<std::size_t>(kind)];
}

// The error's hint names the nearest one, or all.
template <typename Kind>
Result<Kind> parse_choice(std::string_view text) {
  const auto& names = names_of(Kind{});
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == text) return static_cast<Kind>(i);
  }
  return failure("there is no " + quote(text), hint_of_names(text, names));
}

}  // namespace nvmemu
