// SPDX-License-Identifier: Apache-2.0
// What a ticker tells of a sample.
#pragma once

#include <cstdint>

#include "walk/decode/memory_operand.h"

namespace nvmemu {

struct TickerSample {
  std::uintptr_t ip = 0;
  double time_ns = 0;            // wall time of some clock; only with registers
  GeneralRegisters registers{};  // only where the ticker was opened with them
};

}  // namespace nvmemu
