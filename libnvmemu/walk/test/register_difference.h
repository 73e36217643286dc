// SPDX-License-Identifier: Apache-2.0
// What of a thread's registers is not as a walk has it. Async-signal-safe.
#pragma once

#include <ucontext.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "walk/registers.h"

namespace nvmemu {

// The x87 unit's state as fxsave has it, without addresses.
using OldFloatState = std::array<std::uint8_t, 512>;

OldFloatState old_float_state() noexcept;

struct RegisterDifference {
  const char* what = nullptr;  // null: there is none
  std::size_t number = 0;      // of several alike
  std::uint64_t walked = 0, native = 0;

  explicit operator bool() const noexcept { return what != nullptr; }
  std::string text() const;  // not async-signal-safe
};

// The first; `old_float`: null where the walk has not used the unit.
RegisterDifference first_difference(const WalkRegisters& walked, const OldFloatState* old_float,
                                    const ucontext_t& native, const VectorLayout& layout) noexcept;

}  // namespace nvmemu
