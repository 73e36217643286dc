// SPDX-License-Identifier: Apache-2.0
// The one numbering of x86-64 registers: general ones in the processor's own order.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nvmemu {

inline constexpr std::uint8_t kRax = 0, kRcx = 1, kRdx = 2, kRbx = 3, kRsp = 4, kRbp = 5, kRsi = 6, kRdi = 7,
                              kR8 = 8, kR9 = 9, kR10 = 10, kR11 = 11, kR12 = 12, kR13 = 13, kR14 = 14,
                              kR15 = 15;
inline constexpr std::size_t kGeneralRegisters = 16;

// A set of registers: general ones, the flags, vectors, masks.
using RegisterSet = std::uint64_t;
inline constexpr unsigned kFlagsAt = 16, kVectorsAt = 17, kMasksAt = 49;
inline constexpr RegisterSet kFlagsSet = RegisterSet{1} << kFlagsAt;
inline constexpr unsigned kRegisterSetSize = 57;
constexpr RegisterSet general_set(unsigned number) noexcept { return RegisterSet{1} << number; }
constexpr RegisterSet vector_set(unsigned number) noexcept { return RegisterSet{1} << (kVectorsAt + number); }
constexpr RegisterSet mask_set(unsigned number) noexcept { return RegisterSet{1} << (kMasksAt + number); }

inline constexpr std::int8_t kNoRegister = -1;

}  // namespace nvmemu
