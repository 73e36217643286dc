// SPDX-License-Identifier: Apache-2.0
// Why walks end, and how many did for which reason.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nvmemu {

// Why a walk ends. Counted, so that what is not covered shows.
enum class WalkStop : std::uint8_t {
  kNone,  // it does not
  kSystemCall,
  kPrivileged,    // what traps, or acts on the machine: cpuid, rdrand, hypercalls, xsave, transactions
  kX87,           // the old floating-point unit and MMX
  kGather,        // gathers and scatters
  kStringScan,    // cmps, scas, lods
  kUnsupported,   // the rest of what cannot be executed
  kNoStub,        // no executable memory for it
  kFault,         // the instruction, or what it reads, faults
  kCode,          // the next instruction cannot be read
  kDecodeBudget,  // too many new instructions for one walk
  kTableFull,     // of instructions known
  kOverlayFull,   // too much was stored
  kCount,
};
const char* name_of(WalkStop stop) noexcept;
inline constexpr std::size_t kWalkStops = static_cast<std::size_t>(WalkStop::kCount);

// Of all walks of a run: in memory that its processes share, zeroed.
struct WalkTally {
  std::atomic<std::uint64_t> walks, instructions;
  std::array<std::atomic<std::uint64_t>, kWalkStops> stops;  // kNone: they went as far as they were to

  void add(unsigned walked, WalkStop stop) noexcept {
    walks.fetch_add(1, std::memory_order_relaxed);
    instructions.fetch_add(walked, std::memory_order_relaxed);
    stops[static_cast<std::size_t>(stop)].fetch_add(1, std::memory_order_relaxed);
  }
};

}  // namespace nvmemu
