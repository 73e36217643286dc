// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/code/loop.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "counters/sampler/code/guarded_read.h"

namespace nvmemu {
namespace {

constexpr std::uintptr_t kFarthestBytes = 4096;  // from a sample to the branch that closes its loop
constexpr std::uintptr_t kLongestLoopBytes = 4096;
constexpr std::size_t kMostAccesses = 48;
constexpr std::int64_t kLineBytes = 64;
constexpr std::int64_t kNearBytes = 2048;  // accesses of one stream lie no farther apart

std::optional<InstructionEffects> decode_at(std::uintptr_t at, std::uintptr_t end) noexcept {
  if (!is_readable(at, std::min(at + 15, end))) return std::nullopt;
  return decode_effects(reinterpret_cast<const std::uint8_t*>(at), end - at);
}

struct Span {
  std::uintptr_t begin;
  std::uintptr_t end;
};

// From `ip` on, the first branch to it or before.
std::optional<Span> find_loop(std::uintptr_t ip) noexcept {
  for (std::uintptr_t at = ip; at < ip + kFarthestBytes;) {
    const auto effects = decode_at(at, ip + kFarthestBytes + 15);
    if (!effects) return std::nullopt;
    if (effects->is_repeated && at == ip) return Span{at, at + effects->length};
    at += effects->length;
    if (!effects->branch_distance || *effects->branch_distance >= 0) continue;
    const std::uintptr_t target = at + static_cast<std::uintptr_t>(*effects->branch_distance);
    if (target <= ip && at - target <= kLongestLoopBytes) return Span{target, at};
  }
  return std::nullopt;
}

// What is known of a loop's body once all of it has been decoded.
struct Body {
  std::array<MemoryAccess, kMostAccesses> accesses{};
  std::size_t access_count = 0;
  bool is_whole = true;
  bool has_other_accesses = false;
  RegisterSet written = 0;
  RegisterSet stepped = 0;
  RegisterSet stepped_by = 0;
  std::array<RegisterSet, kGeneralRegisters> step_by{};  // of each register
  std::array<std::int64_t, kGeneralRegisters> step{};

  void add(const InstructionEffects& effects) noexcept;
  void add_string_steps() noexcept;
  bool moves(std::int8_t reg) const noexcept { return (stepped & bit_of(reg)) != 0; }
  // Whether its value can be followed: left alone, or moved on.
  bool is_followed(std::int8_t reg) const noexcept { return (written & bit_of(reg)) == 0; }
  bool step_is_known(std::int8_t reg) const noexcept {
    return reg < 0 || step_by[static_cast<std::uint8_t>(reg)] == 0;
  }
  std::int64_t step_of(std::int8_t reg) const noexcept {
    return reg < 0 ? 0 : step[static_cast<std::uint8_t>(reg)];
  }
};

void Body::add(const InstructionEffects& effects) noexcept {
  for (std::size_t i = 0; i < effects.access_count; ++i) {
    if (access_count == accesses.size()) {
      is_whole = false;
    } else {
      accesses[access_count++] = effects.accesses[i];
    }
  }
  has_other_accesses |= effects.has_other_accesses;
  written |= effects.written;
  if (effects.stepped < 0) return;
  const auto reg = static_cast<std::uint8_t>(effects.stepped);
  stepped |= bit_of(effects.stepped);
  step[reg] += effects.step;
  step_by[reg] |= effects.step_by;
}

// A repeated string instruction moves on what it names, an element at a time, to where the direction flag
// says.
void Body::add_string_steps() noexcept {
  for (std::size_t i = 0; i < access_count; ++i) {
    const std::int8_t reg = accesses[i].operand.base;
    written &= ~bit_of(reg);
    stepped |= bit_of(reg);
    step_by[static_cast<std::uint8_t>(reg)] = general_set(kRcx);
  }
}

// Whether the access moves on in each iteration, and nothing else moves it.
bool is_streaming(const Body& body, const MemoryOperand& operand) noexcept {
  return body.is_followed(operand.base) && body.is_followed(operand.index) &&
         (body.moves(operand.base) || body.moves(operand.index));
}

// Of the stack, a global variable, a constant: in the caches.
bool stays(const Body& body, const MemoryOperand& operand) noexcept {
  return body.is_followed(operand.base) && body.is_followed(operand.index);
}

std::int64_t step_of(const Body& body, const MemoryOperand& operand) noexcept {
  if (!body.step_is_known(operand.base) || !body.step_is_known(operand.index)) return 0;
  return body.step_of(operand.base) + operand.scale * body.step_of(operand.index);
}

bool belong_together(const MemoryOperand& a, const MemoryOperand& b) noexcept {
  return a.base == b.base && a.index == b.index && a.scale == b.scale &&
         a.is_thread_local == b.is_thread_local &&
         std::abs(std::int64_t{a.displacement} - b.displacement) < kNearBytes;
}

// The lines that an iteration touches, of those that its step passes; steps of more than 64 lines are looked
// at as if they had as many.
class Touched {
 public:
  explicit Touched(std::int64_t step) : lines_((std::abs(step) + kLineBytes - 1) / kLineBytes) {
    lines_ = std::clamp<std::int64_t>(lines_, 1, 64);
  }
  void add(std::int64_t offset, std::int64_t bytes) noexcept {
    for (std::int64_t at = offset & -kLineBytes; at < offset + std::max<std::int64_t>(bytes, 1);
         at += kLineBytes) {
      const std::int64_t line = at / kLineBytes % lines_;
      set_ |= std::uint64_t{1} << (line < 0 ? line + lines_ : line);
    }
  }
  double share(std::int64_t step) const noexcept {
    if (std::abs(step) <= kLineBytes) return 1;
    const auto touched_bytes = static_cast<double>(std::popcount(set_) * kLineBytes);
    return std::min(1.0, touched_bytes / static_cast<double>(std::abs(step)));
  }

 private:
  std::int64_t lines_;
  std::uint64_t set_ = 0;
};

// The stream of the access `first`, with those after it that belong to it, which are marked as done.
Stream gather_stream(const Body& body, std::size_t first, std::uint64_t& done) noexcept {
  const MemoryOperand& operand = body.accesses[first].operand;
  Stream stream{.operand = operand, .step = step_of(body, operand), .whole_lines = true};
  Touched touched(stream.step);
  for (std::size_t i = first; i < body.access_count; ++i) {
    const MemoryAccess& access = body.accesses[i];
    if ((done & std::uint64_t{1} << i) != 0 || !belong_together(operand, access.operand)) continue;
    done |= std::uint64_t{1} << i;
    stream.reads |= access.reads;
    stream.writes |= access.writes;
    if (access.writes) stream.whole_lines &= access.whole_lines;
    touched.add(std::int64_t{access.operand.displacement} - operand.displacement, access.bytes);
  }
  stream.whole_lines &= stream.writes;
  stream.touched = touched.share(stream.step);
  return stream;
}

void add_streams(const Body& body, Loop& loop) noexcept {
  std::uint64_t done = 0;
  for (std::size_t i = 0; i < body.access_count; ++i) {
    if ((done & std::uint64_t{1} << i) != 0) continue;
    const MemoryOperand& operand = body.accesses[i].operand;
    if (!is_streaming(body, operand)) {
      loop.has_scattered |= !stays(body, operand);
    } else if (loop.stream_count == Loop::kStreams) {
      loop.is_whole = false;
    } else {
      loop.streams[loop.stream_count++] = gather_stream(body, i, done);
    }
  }
}

}  // namespace

std::optional<Loop> loop_around(std::uintptr_t ip) noexcept {
  const auto span = find_loop(ip);
  if (!span) return std::nullopt;
  Body body;
  bool repeated = false;
  for (std::uintptr_t at = span->begin; at < span->end;) {
    const auto effects = decode_at(at, span->end);
    if (!effects) return std::nullopt;
    body.add(*effects);
    repeated |= effects->is_repeated;
    at += effects->length;
  }
  if (repeated && span->begin == ip) body.add_string_steps();
  Loop loop{.begin = span->begin, .end = span->end, .is_whole = body.is_whole};
  loop.has_scattered = body.has_other_accesses;
  add_streams(body, loop);
  return loop;
}

std::uintptr_t address_of(const Stream& stream, const Registers& registers) noexcept {
  const MemoryOperand& operand = stream.operand;
  const auto value = [&](std::int8_t reg) {
    return reg >= 0 ? registers[static_cast<std::uint8_t>(reg)] : std::uintptr_t{0};
  };
  return value(operand.base) + value(operand.index) * operand.scale +
         static_cast<std::uintptr_t>(static_cast<std::intptr_t>(operand.displacement));
}

}  // namespace nvmemu
