// SPDX-License-Identifier: Apache-2.0
// The x87 unit, and MMX, which has its registers: while a walk uses it, the unit itself has the walk's state.
// A signal handler has it to itself: what the thread had is in the frame, and comes back with that.
// Async-signal-safe.
#pragma once

#include <cstdint>

#include "walk/registers.h"

namespace nvmemu {

// One walk's.
class OldFloat {
 public:
  OldFloat() = default;
  ~OldFloat();  // leaves the unit as a handler finds it, which a jump out of it would leave to the program
  OldFloat(const OldFloat&) = delete;
  OldFloat& operator=(const OldFloat&) = delete;

  // Before each instruction of the unit's: the first time, it gets what the thread had.
  void use(const WalkRegisters& registers) noexcept {
    if (!is_used_) load(registers);
  }
  // The walk has changed the control word. No exception is let through.
  void set_control(std::uint16_t of_program) noexcept;

 private:
  void load(const WalkRegisters& registers) noexcept;

  std::uint16_t before_ = 0;
  bool is_used_ = false;
};

}  // namespace nvmemu
