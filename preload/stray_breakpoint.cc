// SPDX-License-Identifier: Apache-2.0
#include "stray_breakpoint.h"

#include <cstdint>

#include "counters/sampler/code/guarded_read.h"

namespace nvmemu::preload {

#if defined(__x86_64__)
namespace {

// Whether the trap can be an int1's: it is reported behind the instruction, but in guests on AMD processors
// at it.
bool is_int1(std::uintptr_t pc) noexcept {
  constexpr std::uint8_t kInt1 = 0xf1;
  const auto is_at = [](std::uintptr_t address) {
    return is_readable(address, address + 1) && *reinterpret_cast<const std::uint8_t*>(address) == kInt1;
  };
  return is_at(pc - 1) || is_at(pc);
}

}  // namespace

// A hit of a breakpoint whose reason has been lost on the way (a hypervisor may mix up or drop DR6, or report
// a debug register that was taken back): the kernel then takes it for a single step, for an int1 instruction,
// or for a debugger's, and sends a plain trap. On a 2-vCPU guest a few in 100,000 probed processes died of
// SIGTRAP, for which this is the likeliest reason; it was not seen at work. Here such a trap cannot be
// anybody else's unless the program steps through itself or runs int1: a debugger is told first, and other
// breakpoints of perf_event carry another code. The instruction is to be executed now, whatever the registers
// say.
bool pass_stray_breakpoint(const siginfo_t& info, ucontext_t& context) noexcept {
  constexpr greg_t kStepping = 1 << 8;  // TF
  constexpr greg_t kResume = 1 << 16;   // RF: no instruction breakpoint is taken at this instruction
  if (info.si_code != TRAP_BRKPT && info.si_code != TRAP_TRACE && info.si_code != TRAP_HWBKPT) return false;
  auto& registers = context.uc_mcontext.gregs;
  if ((registers[REG_EFL] & kStepping) != 0) return false;
  if (is_int1(static_cast<std::uintptr_t>(registers[REG_RIP]))) return false;
  registers[REG_EFL] |= kResume;
  return true;
}
#else
// There are no breakpoints of the emulator's.
bool pass_stray_breakpoint(const siginfo_t&, ucontext_t&) noexcept { return false; }
#endif

}  // namespace nvmemu::preload
