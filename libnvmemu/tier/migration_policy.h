// SPDX-License-Identifier: Apache-2.0
// Which regions of memory are to move between the machine's memory and a slower tier. Pure;
// async-signal-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace nvmemu {

// 2 MiB at the end of a window of time.
struct RegionWindow {
  std::uintptr_t address;
  std::uint64_t waited;         // for it, in this window: a weight,
  std::uint64_t waited_before;  // and in the one before
  std::uint64_t heat;           // and in all, the past counting by half with each window
  std::uint64_t bytes;          // of it, that there are
  bool is_fast;                 // in the machine's memory
  bool moves;                   // out of plan_migration(): it goes to the other
};

// A policy is what a region is worth to it in the machine's memory: one that is there (what is worth least
// makes room), and one that is not (0: it stays where it is).
struct MigrationPolicy {
  std::string_view name;
  std::uint64_t (*worth_keeping)(const RegionWindow& region) noexcept;
  std::uint64_t (*worth_promoting)(const RegionWindow& region) noexcept;
};

// none; hot: what is waited for most is to be there; two-touch: likewise, but what comes must have been
// waited for in two windows in a row.
std::span<const MigrationPolicy> migration_policies() noexcept;
// Null: there is none of that name.
const MigrationPolicy* find_migration_policy(std::string_view name) noexcept;

// What there is to do with.
struct MigrationRoom {
  std::uint64_t fast_bytes;  // of the machine's memory
  std::uint64_t most_bytes;  // that may be moved
};

// Sorts the regions so that those which move come first, in the order in which they are to, and says how many
// do. What comes takes the place of what is worth less than half as much, where there is no room for it
// otherwise: things worth about the same do not change places with every window.
std::size_t plan_migration(const MigrationPolicy& policy, std::span<RegionWindow> regions,
                           const MigrationRoom& room) noexcept;

}  // namespace nvmemu
