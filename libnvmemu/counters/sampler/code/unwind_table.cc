// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/code/unwind_table.h"

#include <algorithm>
#include <optional>

#include "counters/sampler/code/guarded_read.h"

namespace nvmemu {
namespace {

// Linux Standard Base, Core Specification 5.0, 10.6.2, with the one encoding of the table that linkers write:
// pairs of 32-bit offsets from the header, sorted by function start. Version and three encodings, a 4-byte
// frame pointer, the count, the pairs.
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kUdata4 = 0x03;
constexpr std::uint32_t kDatarelSdata4 = 0x3b;
constexpr std::uint32_t kCheckedBytes = 0xffff00ff;  // the frame pointer's encoding does not matter
constexpr std::uint32_t kKnown = kVersion | kUdata4 << 16 | kDatarelSdata4 << 24;
constexpr std::uintptr_t kCountOffset = 8;
constexpr std::uintptr_t kTableOffset = 12;
constexpr std::uintptr_t kEntryBytes = 8;

// Eight bytes that lie between `begin` and `end`.
std::optional<std::uint64_t> read_word(std::uintptr_t at, std::uintptr_t end) noexcept {
  if (!may_read(at) || at > end || end - at < sizeof(std::uint64_t)) return std::nullopt;
  const std::uint64_t word = nvmemu_read_pointer(reinterpret_cast<const void*>(at));
  return word == kFaulted ? std::nullopt : std::optional(word);
}

}  // namespace

std::uintptr_t function_in_table(std::uintptr_t header, std::uintptr_t end, std::uintptr_t ip) noexcept {
  const auto first = read_word(header, end);
  const auto count = read_word(header + kCountOffset, end);
  if (!first || !count || (static_cast<std::uint32_t>(*first) & kCheckedBytes) != kKnown) return 0;
  const auto start_of = [header, end](std::uintptr_t i) -> std::optional<std::uintptr_t> {
    const auto entry = read_word(header + kTableOffset + i * kEntryBytes, end);
    if (!entry) return std::nullopt;
    return header +
           static_cast<std::uintptr_t>(static_cast<std::intptr_t>(static_cast<std::int32_t>(*entry)));
  };
  std::uintptr_t found = 0;
  std::uintptr_t low = 0;
  std::uintptr_t high = static_cast<std::uint32_t>(*count);
  while (low < high) {  // the first function that starts after ip
    const std::uintptr_t middle = low + (high - low) / 2;
    const auto start = start_of(middle);
    if (!start) return 0;
    if (*start <= ip) {
      found = *start;
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return found;
}

}  // namespace nvmemu
