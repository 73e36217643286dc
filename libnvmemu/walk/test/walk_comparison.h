// SPDX-License-Identifier: Apache-2.0
// A walk, recorded instruction by instruction, and then the processor's own execution of the same ones, which
// is stepped through by the trap flag. Async-signal-safe.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/address_range.h"
#include "walk/cursor.h"
#include "walk/test/register_difference.h"

namespace nvmemu {

struct RecordedStep {
  MicroOp op;
  WalkRegisters after;
  bool has_old_float = false;
  OldFloatState old_float;
};

// What a walk ended at that could be walked, but not compared.
enum class NotCompared : std::uint8_t {
  kNothing,
  kClock,       // time goes on between the walk and the step
  kRepetition,  // a string instruction traps after each of its elements: too many of them
};

// While on, the thread traps after each instruction that it executes from the context on.
void set_single_step(ucontext_t& context, bool is_on) noexcept;

class WalkComparison {
 public:
  // `clock_code`: what lies there reads what the kernel writes at any time.
  WalkComparison(std::span<RecordedStep> steps, const AddressRange& clock_code) noexcept
      : steps_(steps), clock_code_(clock_code) {}

  // From the context on, until the walk ends or the steps are all used.
  void walk(const ucontext_t& context) noexcept;
  // At the trap behind an instruction that was walked.
  void compare(const ucontext_t& context) noexcept;
  bool is_over() const noexcept { return compared_ == walked_ || difference_; }

  std::size_t walked() const noexcept { return walked_; }  // instructions
  std::size_t compared() const noexcept { return compared_; }
  WalkStop stop() const noexcept { return stop_; }
  NotCompared not_compared() const noexcept { return not_compared_; }
  const RegisterDifference& difference() const noexcept { return difference_; }
  std::span<const RecordedStep> compared_steps() const noexcept { return steps_.first(compared_); }

 private:
  NotCompared why_not_to_compare(const MicroOp& op, std::uint64_t repetitions) noexcept;
  void record(const Cursor& cursor, const WalkRegisters& registers) noexcept;

  std::span<RecordedStep> steps_;
  AddressRange clock_code_;
  std::size_t walked_ = 0, compared_ = 0;
  std::uint64_t repetitions_left_ = 0;
  WalkStop stop_ = WalkStop::kNone;
  NotCompared not_compared_ = NotCompared::kNothing;
  bool uses_old_float_ = false;
  RegisterDifference difference_;
};

}  // namespace nvmemu
