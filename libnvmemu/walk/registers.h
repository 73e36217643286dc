// SPDX-License-Identifier: Apache-2.0
// A thread's registers as a walk has them: a copy, which the walk changes.
#pragma once

#include <ucontext.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "walk/decode/memory_operand.h"
#include "walk/decode/register_set.h"

namespace nvmemu {

inline constexpr std::size_t kVectorRegisters = 32;
inline constexpr std::size_t kMaskRegisters = 8;
inline constexpr std::size_t kVectorBytes = 64;

// What vector registers a stub may touch.
enum class VectorState : std::uint8_t { kSse, kAvx, kAvx512 };

// Stubs address these members by their offsets.
struct WalkRegisters {
  GeneralRegisters general{};
  // As lahf and seto leave them in %ax: bit 0 is the overflow flag, bits 8 to 15 SF, ZF, AF, PF, CF where
  // lahf has them.
  std::uint64_t flags = 0;
  std::array<std::uint64_t, kMaskRegisters> masks{};
  std::uint64_t pc = 0;
  std::uint64_t fs_base = 0;
  std::uint64_t gs_base = 0;
  std::uint32_t vector_control = 0;  // MXCSR
  std::uint16_t float_control = 0;   // of the x87 unit
  // The rest of that unit's state, as fxsave has it; null: as it is at first.
  const std::uint8_t* float_frame = nullptr;
  alignas(64) std::uint8_t vectors[kVectorRegisters][kVectorBytes] = {};
};

// Which flags of %rflags lahf has, in its order, and where seto's is.
inline constexpr std::uint64_t kLowFlags = 0xd5;
inline constexpr unsigned kOverflowBit = 11;
constexpr std::uint64_t walk_flags(std::uint64_t rflags) noexcept {
  return (rflags & kLowFlags) << 8 | (rflags >> kOverflowBit & 1);
}

// Where a signal frame keeps the upper parts of vector registers; Intel's and AMD's processors differ. By
// CPUID, which traps on guests: once in a process.
struct VectorLayout {
  VectorState state = VectorState::kSse;
  std::uint32_t upper_halves = 0;  // of ymm0 to ymm15
  std::uint32_t masks = 0;
  std::uint32_t upper_zmm = 0;  // the upper halves of zmm0 to zmm15
  std::uint32_t high_zmm = 0;   // zmm16 to zmm31

  static VectorLayout of_processor() noexcept;
};

// What the thread had when the signal came. Async-signal-safe.
void read_registers(const ucontext_t& context, const VectorLayout& layout, WalkRegisters& to) noexcept;

// The thread's own vector control register, as its own while alive: a handler starts with the default, a
// stub must round as the program does. No exception is let through.
class VectorControl {
 public:
  explicit VectorControl(std::uint32_t of_program) noexcept;
  ~VectorControl();
  VectorControl(const VectorControl&) = delete;
  VectorControl& operator=(const VectorControl&) = delete;

  // As the walk has made it: what the program would store, of the one that it has set.
  static std::uint32_t stored(std::uint32_t of_program) noexcept;
  static void set(std::uint32_t of_program) noexcept;

 private:
  std::uint32_t before_;
};

}  // namespace nvmemu
