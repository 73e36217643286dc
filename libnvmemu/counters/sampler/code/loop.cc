// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/code/loop.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "counters/sampler/code/guarded_read.h"
#include "walk/decode/decode.h"

namespace nvmemu {
namespace {

constexpr std::uintptr_t kFarthestBytes = 4096;  // from a sample to the branch that closes its loop
constexpr std::uintptr_t kLongestLoopBytes = 4096;
constexpr std::size_t kMostAccesses = 48;
constexpr std::int64_t kCacheLineBytes = 64;
constexpr std::int64_t kNearBytes = 2048;  // accesses of one stream lie no farther apart

bool decode_at(std::uintptr_t at, std::uintptr_t end, MicroOp& op) noexcept {
  return is_readable(at, std::min(at + kLongestInstruction, end)) && decode_op(code_at(at), end - at, at, op);
}

struct Span {
  std::uintptr_t begin;
  std::uintptr_t end;
};

// The string instruction there, or from there on to the first jump there or before.
std::optional<Span> find_loop(std::uintptr_t ip) noexcept {
  MicroOp op;
  const std::uintptr_t end = ip + kFarthestBytes + kLongestInstruction;
  if (!decode_at(ip, end, op)) return std::nullopt;
  if (op.is_repeated) return Span{ip, op.next()};
  for (std::uintptr_t at = ip; at < ip + kFarthestBytes;) {
    if (!is_readable(at, std::min(at + kLongestInstruction, end))) return std::nullopt;
    const OpOutline outline = outline_op(code_at(at), end - at, at);
    if (outline.length == 0) return std::nullopt;
    at += outline.length;
    if (!outline.has_target || outline.flow == Flow::kCall || outline.target > ip) continue;
    if (at - outline.target <= kLongestLoopBytes) return Span{outline.target, at};
  }
  return std::nullopt;
}

// What a called function may change: System V ABI, AMD64 supplement, figure 3.4.
constexpr RegisterSet kCallerSaved = general_set(kRax) | general_set(kRcx) | general_set(kRdx) |
                                     general_set(kRsi) | general_set(kRdi) | general_set(kR8) |
                                     general_set(kR9) | general_set(kR10) | general_set(kR11);

constexpr RegisterSet bit_of(std::int8_t reg) {
  return reg >= 0 ? general_set(static_cast<unsigned>(reg)) : 0;
}

// A register that an instruction moves on, by a constant, or by other registers' values.
struct Step {
  std::int8_t reg = kNoRegister;
  std::int64_t bytes = 0;
  RegisterSet by = 0;
};

// Of an addition or subtraction, or an lea that is one.
Step step_of(const MicroOp& op) noexcept {
  if (op.is_sum && op.from != op.to) return {op.to, op.constant, bit_of(op.from)};
  const MemoryOperand& operand = op.operand;
  const bool is_step = op.kind == OpKind::kAddress && operand.base == op.to && operand.index != op.to;
  return is_step ? Step{op.to, operand.displacement, bit_of(operand.index)} : Step{};
}

struct MemoryAccess {
  MemoryOperand operand;
  std::uint8_t bytes = 0;  // of one execution
  bool reads = false;
  bool writes = false;
  // Its stores do not read the line first: non-temporal ones, and those of a repeated string instruction,
  // which knows that it will write whole lines (Intel optimization manual, 3.7.6).
  bool whole_lines = false;
};

// Which of the places at %rsi and %rdi string instructions read, and which they write.
struct StringAccess {
  OpKind kind;
  std::int8_t reg;
  bool reads, writes;
};
constexpr StringAccess kStringAccesses[] = {
    {OpKind::kCopy, kRdi, false, true},           {OpKind::kCopy, kRsi, true, false},
    {OpKind::kFill, kRdi, false, true},           {OpKind::kLoadString, kRsi, true, false},
    {OpKind::kCompareStrings, kRsi, true, false}, {OpKind::kCompareStrings, kRdi, true, false},
    {OpKind::kScan, kRdi, true, false},
};

// What is known of a loop's body once all of it has been decoded.
struct Body {
  std::array<MemoryAccess, kMostAccesses> accesses{};
  std::size_t access_count = 0;
  RegisterSet written = 0;  // otherwise than by a step
  RegisterSet stepped = 0;
  std::array<RegisterSet, kGeneralRegisters> step_by{};  // of each register
  std::array<std::int64_t, kGeneralRegisters> step{};

  void add(const MicroOp& op) noexcept;
  void add_accesses(const MicroOp& op) noexcept;
  void add(const MemoryAccess& access) noexcept;
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

void Body::add(const MemoryAccess& access) noexcept {
  if (access_count < accesses.size()) accesses[access_count++] = access;
}

// Beside the stack's by calls, pushes and pops, which stay in the caches, and those whose address general
// registers do not tell.
void Body::add_accesses(const MicroOp& op) noexcept {
  for (const StringAccess& string : kStringAccesses) {
    if (string.kind != op.kind) continue;
    add({.operand = {.base = string.reg},
         .bytes = op.width,
         .reads = string.reads,
         .writes = string.writes,
         .whole_lines = string.writes && op.is_repeated});
  }
  const bool reads = op.reads_memory || op.kind == OpKind::kFlush;
  const bool is_known = !op.operand.is_short && op.operand.segment != Segment::kGs && op.gather.index < 0;
  if ((reads || op.writes_memory) && is_known)
    add({op.operand, op.operand_bytes, reads, op.writes_memory, op.writes_memory && op.is_non_temporal});
}

void Body::add(const MicroOp& op) noexcept {
  add_accesses(op);
  const Step moved = nvmemu::step_of(op);
  written |= op.written & ~bit_of(moved.reg);
  if (op.flow == Flow::kCall) written |= kCallerSaved;
  if (moved.reg < 0) return;
  stepped |= bit_of(moved.reg);
  step[static_cast<std::uint8_t>(moved.reg)] += moved.bytes;
  step_by[static_cast<std::uint8_t>(moved.reg)] |= moved.by;
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

std::int64_t step_of(const Body& body, const MemoryOperand& operand) noexcept {
  if (!body.step_is_known(operand.base) || !body.step_is_known(operand.index)) return 0;
  return body.step_of(operand.base) + operand.scale * body.step_of(operand.index);
}

bool belong_together(const MemoryOperand& a, const MemoryOperand& b) noexcept {
  return a.base == b.base && a.index == b.index && a.scale == b.scale && a.segment == b.segment &&
         std::abs(a.displacement - b.displacement) < kNearBytes;
}

// The lines that an iteration touches, of those that its step passes; steps of more than 64 lines are looked
// at as if they had as many.
class Touched {
 public:
  explicit Touched(std::int64_t step) : lines_((std::abs(step) + kCacheLineBytes - 1) / kCacheLineBytes) {
    lines_ = std::clamp<std::int64_t>(lines_, 1, 64);
  }
  void add(std::int64_t offset, std::int64_t bytes) noexcept {
    for (std::int64_t at = offset & -kCacheLineBytes; at < offset + std::max<std::int64_t>(bytes, 1);
         at += kCacheLineBytes) {
      const std::int64_t line = at / kCacheLineBytes % lines_;
      set_ |= std::uint64_t{1} << (line < 0 ? line + lines_ : line);
    }
  }
  double share(std::int64_t step) const noexcept {
    if (std::abs(step) <= kCacheLineBytes) return 1;
    const auto touched_bytes = static_cast<double>(std::popcount(set_) * kCacheLineBytes);
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
    touched.add(access.operand.displacement - operand.displacement, access.bytes);
  }
  stream.whole_lines &= stream.writes;
  stream.touched = touched.share(stream.step);
  return stream;
}

void add_streams(const Body& body, Loop& loop) noexcept {
  std::uint64_t done = 0;
  for (std::size_t i = 0; i < body.access_count && loop.stream_count < Loop::kStreams; ++i) {
    if ((done & std::uint64_t{1} << i) == 0 && is_streaming(body, body.accesses[i].operand))
      loop.streams[loop.stream_count++] = gather_stream(body, i, done);
  }
}

}  // namespace

std::optional<Loop> loop_around(std::uintptr_t ip) noexcept {
  const auto span = find_loop(ip);
  if (!span) return std::nullopt;
  Body body;
  MicroOp op;
  bool repeated = false;
  for (std::uintptr_t at = span->begin; at < span->end; at = op.next()) {
    if (!decode_at(at, span->end, op)) return std::nullopt;
    body.add(op);
    repeated |= op.is_repeated;
  }
  if (repeated && span->begin == ip) body.add_string_steps();
  Loop loop{.begin = span->begin, .end = span->end};
  add_streams(body, loop);
  return loop;
}

}  // namespace nvmemu
