// SPDX-License-Identifier: Apache-2.0
// Which areas of memory are mapped, in which order: the workloads of "Journey: A Study in Unhelpful Titles"
// (Mansi, Pai, Pirzada, 2017; 4.1). The kernel keeps each range of addresses that is mapped alike as one
// area (its vm_area_struct), and merges what touches; so a pattern says how many areas there are. Pure:
// nothing is mapped here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "pattern/permutation.h"

namespace nvmemu::pmbench {

enum class AreaPatternKind : std::uint8_t { kCont, kStrided, kRandom, kFrag };

// Offsets and sizes in bytes, multiples of 4 KiB; offsets from the begin of the room.
struct AreaOperation {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t new_bytes = 0;  // > 0: what is mapped there already becomes so large, and may move
};

struct AreaPatternDescription {
  AreaPatternKind kind;
  std::string_view name, text;
};
// In the order of the enumeration.
inline constexpr std::array<AreaPatternDescription, 4> kAreaPatterns{
    {{AreaPatternKind::kCont, "cont", "16 KiB after 16 KiB: one area, which grows"},
     {AreaPatternKind::kStrided, "strided", "16 KiB with gaps as large: an area each"},
     {AreaPatternKind::kRandom, "random",
      "pages of one range in random order: up to n / 4 areas, which merge"},
     {AreaPatternKind::kFrag, "frag",
      "of one range, every other page becomes 16 KiB (mremap), and must move: an area for each that stays"}}};
constexpr std::string_view name_of(AreaPatternKind kind) {
  return kAreaPatterns[static_cast<std::size_t>(kind)].name;
}

class AreaPattern {
 public:
  // 1 <= operations <= 2^32. The same seed gives the same order.
  AreaPattern(AreaPatternKind kind, std::uint64_t operations, std::uint64_t seed) noexcept;

  AreaPatternKind kind() const noexcept { return kind_; }
  std::uint64_t operations() const noexcept { return operations_; }

  // i < operations(). The timed ones.
  AreaOperation operation(std::uint64_t i) const noexcept;
  // What is mapped before them, where there is something.
  std::optional<AreaOperation> preparation() const noexcept;
  bool resizes() const noexcept;

  // Of addresses, from the first mapped byte to the last, without what moves elsewhere; and what may move.
  std::uint64_t room_bytes() const noexcept;
  std::uint64_t moved_bytes() const noexcept;

  // How many areas more than before there are after all operations, and how many there may be at most,
  // meanwhile or when the blocks of `unmapped` operations are unmapped after them: each of those may split an
  // area. Random: after a share p of n pages, those that begin an area are p (1 - p) n on average, at most
  // n / 4.
  std::uint64_t areas_at_end() const noexcept;
  std::uint64_t most_areas(std::uint64_t unmapped = 0) const noexcept;

 private:
  AreaPatternKind kind_;
  std::uint64_t operations_;
  Permutation order_;
};

}  // namespace nvmemu::pmbench
