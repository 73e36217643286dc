// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/code/code_lookup.h"

#include <dlfcn.h>

#include <array>
#include <cstddef>

#include "base/page_bytes.h"
#include "counters/sampler/code/guarded_read.h"
#include "counters/sampler/code/stall_kind.h"
#include "counters/sampler/code/unwind_table.h"
#include "walk/decode/decode.h"

extern "C" int _dl_find_object(void* address, struct dl_find_object* result) noexcept __attribute__((weak));

namespace nvmemu {
namespace {

// A longer function is read from near the address instead: a length takes some 30 ns, and it is done in a
// handler.
constexpr std::uintptr_t kLongestWalkBytes = 16384;

// Up to where code can be read from `start` on: `reach` bytes behind `ip`, or the end of its page; `start`
// where that cannot be.
std::uintptr_t readable_end(std::uintptr_t start, std::uintptr_t ip, std::uintptr_t reach) noexcept {
  if (is_readable(start, ip + reach)) return ip + reach;
  const std::uintptr_t page_end = (ip | (kPageBytes - 1)) + 1;
  return is_readable(start, page_end) ? page_end : start;
}

// Goes from instruction to instruction; the last one's length where that ends at `ip` exactly, else 0.
std::size_t last_length(std::uintptr_t start, std::uintptr_t ip) noexcept {
  if (!is_readable(start, ip)) return 0;
  std::size_t length = 0;
  for (std::uintptr_t at = start; at < ip; at += length) {
    length = outline_op(code_at(at), ip - at, at).length;
    if (length == 0) return 0;
  }
  return length;
}

// The compare with memory before a conditional jump to `ip`, in the code from `start` on: the nearest behind
// `ip`, or else before it. Looks no further than loops usually reach.
std::optional<MicroOp> compare_before_jump_to(std::uintptr_t start, std::uintptr_t ip) noexcept {
  constexpr std::uintptr_t kReachBytes = 1024;
  const std::uintptr_t end = readable_end(start, ip, kReachBytes);
  std::optional<MicroOp> found;
  for (std::uintptr_t at = start, before = start; at < end;) {
    const OpOutline outline = outline_op(code_at(at), end - at, at);
    if (outline.length == 0) break;
    const bool leads_there = outline.flow == Flow::kBranch && outline.has_target && outline.target == ip;
    MicroOp op;
    if (leads_there && decode_op(code_at(before), at - before, before, op) && compares_memory(op)) {
      found = op;
      if (at > ip) break;
    }
    before = at;
    at += outline.length;
  }
  return found;
}

// The instruction at `ip`, if it waits for reads.
std::optional<MicroOp> load_at(std::uintptr_t ip) noexcept {
  const std::uintptr_t end = readable_end(ip, ip, kLongestInstruction);
  MicroOp op;
  if (!decode_op(code_at(ip), end - ip, ip, op)) return std::nullopt;
  return waits_for_reads(stall_kind(op)) ? std::optional(op) : std::nullopt;
}

// x86 decoding synchronises itself within a few instructions, so that most starting points agree: the length
// of the last instruction before `ip`, or 0.
std::size_t vote(std::uintptr_t lowest, std::uintptr_t ip) noexcept {
  constexpr std::uintptr_t kNearest = 16;
  constexpr std::uintptr_t kFarthest = 48;
  std::array<std::uint8_t, kLongestInstruction + 1> votes{};
  unsigned total = 0;
  for (std::uintptr_t back = kNearest; back < kFarthest && ip - back >= lowest; ++back) {
    const std::size_t length = last_length(ip - back, ip);
    if (length == 0) continue;
    ++votes[length];
    ++total;
  }
  for (std::size_t length = 1; length <= kLongestInstruction; ++length) {
    if (votes[length] * 2U > total) return length;
  }
  return 0;
}

}  // namespace

std::uintptr_t function_start(std::uintptr_t ip) noexcept {
  if (_dl_find_object == nullptr) return 0;
  dl_find_object object;
  if (_dl_find_object(reinterpret_cast<void*>(ip), &object) != 0 || object.dlfo_eh_frame == nullptr) return 0;
  const auto header = reinterpret_cast<std::uintptr_t>(object.dlfo_eh_frame);
  return function_in_table(header, reinterpret_cast<std::uintptr_t>(object.dlfo_map_end), ip);
}

std::optional<MicroOp> instruction_before(std::uintptr_t ip) noexcept {
  const std::uintptr_t start = function_start(ip);
  if (start == ip) return std::nullopt;
  std::size_t length = 0;
  if (start != 0 && ip - start <= kLongestWalkBytes) length = last_length(start, ip);
  if (length == 0) length = vote(start != 0 ? start : ip & ~(kPageBytes - 1), ip);
  MicroOp op;
  if (length == 0 || !decode_op(code_at(ip - length), length, ip - length, op)) return std::nullopt;
  return op.flow == Flow::kAway ? std::nullopt : std::optional(op);
}

namespace {

// The compare with memory that is one with a jump, to `ip` or `before` it.
std::optional<MicroOp> fused_compare(const std::optional<MicroOp>& before, std::uintptr_t ip) noexcept {
  if (before && before->flow == Flow::kBranch && before->has_constant) {
    const auto compare = instruction_before(before->address);
    if (compare && compares_memory(*compare)) return compare;
  }
  const std::uintptr_t start = function_start(ip);
  if (start == 0 || ip - start > kLongestWalkBytes) return std::nullopt;
  return compare_before_jump_to(start, ip);
}

}  // namespace

std::optional<MicroOp> instruction_waited_for(std::uintptr_t ip, Rules rules) noexcept {
  const auto before = instruction_before(ip);
  if (before && stall_kind(*before) != StallKind::kOther) return before;
  if (const auto compare = rules.has(Rule::kFused) ? fused_compare(before, ip) : std::nullopt) return compare;
  const auto at = rules.has(Rule::kInterrupted) ? load_at(ip) : std::nullopt;
  return at ? at : before;
}

}  // namespace nvmemu
