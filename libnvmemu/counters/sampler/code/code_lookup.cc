// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/code/code_lookup.h"

#include <dlfcn.h>

#include <array>
#include <cstddef>

#include "counters/sampler/code/guarded_read.h"
#include "counters/sampler/code/unwind_table.h"

extern "C" int _dl_find_object(void* address, struct dl_find_object* result) noexcept __attribute__((weak));

namespace nvmemu {
namespace {

// A longer function is read from near the address instead: a decode takes some 50 ns, and it is done in a
// handler.
constexpr std::uintptr_t kLongestWalkBytes = 16384;
constexpr std::uintptr_t kPageBytes = 4096;

// Decodes from `start`; the last instruction where the walk arrives at `ip` exactly.
std::optional<LocatedInstruction> walk(std::uintptr_t start, std::uintptr_t ip) noexcept {
  if (!is_readable(start, ip)) return std::nullopt;
  std::optional<LocatedInstruction> last;
  for (std::uintptr_t at = start; at < ip;) {
    const auto instruction = decode_instruction(reinterpret_cast<const std::uint8_t*>(at), ip - at);
    if (!instruction) return std::nullopt;
    last = LocatedInstruction{at, *instruction};
    at += instruction->length;
  }
  return last;
}

// The compare with memory before a conditional jump to `ip`, in the code from `start` on: the nearest behind
// `ip`, or else before it. Looks no further than loops usually reach.
std::optional<LocatedInstruction> compare_before_jump_to(std::uintptr_t start, std::uintptr_t ip) noexcept {
  constexpr std::uintptr_t kReachBytes = 1024;
  const std::uintptr_t page_end = (ip | (kPageBytes - 1)) + 1;
  const std::uintptr_t end = is_readable(start, ip + kReachBytes) ? ip + kReachBytes : page_end;
  if (!is_readable(start, end)) return std::nullopt;
  std::optional<LocatedInstruction> found;
  LocatedInstruction last{};
  for (std::uintptr_t at = start; at < end;) {
    const auto instruction = decode_instruction(reinterpret_cast<const std::uint8_t*>(at), end - at);
    if (!instruction) break;
    const std::uintptr_t next = at + instruction->length;
    const auto jump = static_cast<std::uintptr_t>(static_cast<std::intptr_t>(instruction->jump));
    if (instruction->jumps_if && next + jump == ip && last.instruction.compares_memory) {
      found = last;
      if (at > ip) break;
    }
    last = {at, *instruction};
    at = next;
  }
  return found;
}

// x86 decoding synchronises itself within a few instructions, so that most starting points agree.
std::optional<LocatedInstruction> vote(std::uintptr_t lowest, std::uintptr_t ip) noexcept {
  constexpr std::uintptr_t kNearest = 16;
  constexpr std::uintptr_t kFarthest = 48;
  constexpr std::size_t kLongest = 15;
  std::array<std::uint8_t, kLongest + 1> votes{};
  std::array<LocatedInstruction, kLongest + 1> candidates{};
  unsigned total = 0;
  for (std::uintptr_t back = kNearest; back < kFarthest && ip - back >= lowest; ++back) {
    const auto found = walk(ip - back, ip);
    if (!found) continue;
    const std::size_t length = found->instruction.length;
    ++votes[length];
    candidates[length] = *found;
    ++total;
  }
  for (std::size_t length = 1; length <= kLongest; ++length) {
    if (votes[length] * 2U > total) return candidates[length];
  }
  return std::nullopt;
}

}  // namespace

std::uintptr_t function_start(std::uintptr_t ip) noexcept {
  if (_dl_find_object == nullptr) return 0;
  dl_find_object object;
  if (_dl_find_object(reinterpret_cast<void*>(ip), &object) != 0 || object.dlfo_eh_frame == nullptr) return 0;
  const auto header = reinterpret_cast<std::uintptr_t>(object.dlfo_eh_frame);
  return function_in_table(header, reinterpret_cast<std::uintptr_t>(object.dlfo_map_end), ip);
}

std::optional<LocatedInstruction> instruction_before(std::uintptr_t ip) noexcept {
  std::optional<LocatedInstruction> found;
  const std::uintptr_t start = function_start(ip);
  if (start == ip) return std::nullopt;
  if (start != 0 && ip - start <= kLongestWalkBytes) found = walk(start, ip);
  if (!found) found = vote(start != 0 ? start : ip & ~(kPageBytes - 1), ip);
  if (found && !found->instruction.falls_through) return std::nullopt;
  return found;
}

std::optional<LocatedInstruction> instruction_waited_for(std::uintptr_t ip) noexcept {
  const auto before = instruction_before(ip);
  if (before && before->instruction.kind != StallKind::kOther) return before;
  if (before && before->instruction.jumps_if) {
    const auto compare = instruction_before(before->address);
    if (compare && compare->instruction.compares_memory) return compare;
  }
  const std::uintptr_t start = function_start(ip);
  if (start == 0 || ip - start > kLongestWalkBytes) return before;
  const auto compare = compare_before_jump_to(start, ip);
  return compare ? compare : before;
}

}  // namespace nvmemu
