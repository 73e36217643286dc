// SPDX-License-Identifier: Apache-2.0
// One x86-64 instruction, as far as values flow through it: from where to where, and where control goes on.
#pragma once

#include <cstdint>
#include <optional>

#include "walk/register_set.h"

namespace nvmemu {

// What the stack frame is found from.
inline constexpr RegisterSet kStackPointer = general_set(kRsp);
inline constexpr RegisterSet kFramePointer = general_set(kRbp);

// A place in the stack frame, by the register that it is found from and how far from it.
struct FrameSlot {
  RegisterSet base = 0;  // 0: no place
  std::int32_t displacement = 0;
  bool operator==(const FrameSlot&) const = default;
};

// Flags are no values: what branches on them is predicted.
struct ValueFlow {
  std::uintptr_t address = 0;
  std::uint8_t length = 0;     // bytes
  RegisterSet reads = 0;       // what its results are made of, addresses included
  RegisterSet writes = 0;      // results,
  RegisterSet changes = 0;     // and those of which part is kept
  RegisterSet located_by = 0;  // of a load that is not from the frame: what its address is made of
  FrameSlot from{}, to{};      // of the frame, what it reads and writes
  bool loads = false;          // from elsewhere than the frame
  bool stores = false;         // to elsewhere than the frame
  bool copies = false;         // 64 bits, and does nothing else

  // Where control goes after it.
  enum class Control { kOn, kJump, kBranch, kUnknown } control = Control::kOn;
  std::uintptr_t target = 0;  // of a jump or a branch

  std::uintptr_t next() const noexcept { return address + length; }
};

// Of the instruction at `address`, which must be where control goes; what `frame` points to is the stack
// frame (compilers use %rbp for anything else too). Nothing where it cannot be read or is no instruction.
// Async-signal-safe.
std::optional<ValueFlow> value_flow_at(std::uintptr_t address, RegisterSet frame) noexcept;

}  // namespace nvmemu
