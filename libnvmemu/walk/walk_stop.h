// SPDX-License-Identifier: Apache-2.0
// Why walks end.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nvmemu {

// Why a walk ends. Counted, so that what is not covered shows.
enum class WalkStop : std::uint8_t {
  kNone,  // it does not
  kSystemCall,
  kPrivileged,    // what traps, or acts on the machine: cpuid, rdrand, hypercalls, xsave, transactions
  kX87,           // what takes the old floating-point unit's whole state; 3DNow
  kGather,        // gathers and scatters that are not executed: of processors that have no others
  kStringScan,    // a long one, or by other addresses than usual
  kUnsupported,   // the rest of what cannot be executed
  kNoStub,        // no executable memory for it
  kFault,         // the instruction, or what it reads, faults
  kCode,          // the next instruction cannot be read
  kDecodeBudget,  // too many new instructions for one walk
  kTableFull,     // of instructions known
  kOverlayFull,   // too much was stored
  kDevice,        // what it reads is a device's, or a userfaultfd's
  kHeldUp,        // what it reads takes far longer than memory does
  kCount,
};
const char* name_of(WalkStop stop) noexcept;
inline constexpr std::size_t kWalkStops = static_cast<std::size_t>(WalkStop::kCount);

}  // namespace nvmemu
