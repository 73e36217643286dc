// SPDX-License-Identifier: Apache-2.0
#include "walk/test/walk_comparison.h"

#include <Zydis/Zydis.h>

#include "walk/test/walking.h"

namespace nvmemu {
namespace {

constexpr greg_t kTrapFlag = 1 << 8;
constexpr std::uint64_t kMostRepetitions = 20000;  // in a walk

bool reads_clock(const MicroOp& op) noexcept {
  return op.mnemonic == ZYDIS_MNEMONIC_RDTSC || op.mnemonic == ZYDIS_MNEMONIC_RDTSCP;
}

}  // namespace

void set_single_step(ucontext_t& context, bool is_on) noexcept {
  greg_t& flags = context.uc_mcontext.gregs[REG_EFL];
  flags = is_on ? flags | kTrapFlag : flags & ~kTrapFlag;
}

NotCompared WalkComparison::why_not_to_compare(const MicroOp& op, std::uint64_t repetitions) noexcept {
  const bool is_in_clock = op.address >= clock_code_.begin && op.address < clock_code_.end;
  if (is_in_clock || reads_clock(op)) return NotCompared::kClock;
  if (!op.is_repeated) return NotCompared::kNothing;
  if (repetitions > repetitions_left_) return NotCompared::kRepetition;
  repetitions_left_ -= repetitions;
  return NotCompared::kNothing;
}

void WalkComparison::record(const Cursor& cursor, const WalkRegisters& registers) noexcept {
  RecordedStep& step = steps_[walked_++];
  uses_old_float_ |= cursor.executed().is_old_float;
  step = {cursor.executed(), registers, uses_old_float_, old_float_state()};
  step.after.vector_control = VectorControl::stored(registers.vector_control);
}

void WalkComparison::walk(const ucontext_t& context) noexcept {
  ContextWalk walk(context);
  const WalkRegisters& registers = walk.registers;
  *this = WalkComparison(steps_, clock_code_);
  repetitions_left_ = kMostRepetitions;
  while (walked_ < steps_.size()) {
    const std::uint64_t count_before = registers.general[kRcx];
    stop_ = walk.cursor.step();
    if (stop_ != WalkStop::kNone) return;
    not_compared_ = why_not_to_compare(walk.cursor.executed(), count_before - registers.general[kRcx]);
    if (not_compared_ != NotCompared::kNothing) return;
    record(walk.cursor, registers);
  }
}

void WalkComparison::compare(const ucontext_t& context) noexcept {
  const RecordedStep& step = steps_[compared_];
  // A repeated instruction traps after each repetition.
  const auto pc = static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
  if (pc == step.op.address && step.after.pc != step.op.address) return;
  difference_ = first_difference(step.after, step.has_old_float ? &step.old_float : nullptr, context,
                                 Walking::get().layout);
  ++compared_;
}

}  // namespace nvmemu
