// SPDX-License-Identifier: Apache-2.0
#include "walk/registers.h"

#include <cpuid.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <xmmintrin.h>

#include <algorithm>
#include <cstring>

#include "base/raw_syscall.h"
#include "walk/general_registers.h"

namespace nvmemu {
namespace {

// Intel SDM volume 1, 13.1: the state components of XCR0 and XSTATE_BV.
constexpr std::uint64_t kOldFloatComponent = 1 << 0, kSseComponent = 1 << 1, kAvxComponent = 1 << 2,
                        kMaskComponent = 1 << 5, kUpperZmmComponent = 1 << 6, kHighZmmComponent = 1 << 7;
constexpr std::uint64_t kAvx512Components = kMaskComponent | kUpperZmmComponent | kHighZmmComponent;

// The signal frame's floating-point part: fxsave's layout, then xsave's header, then components.
constexpr std::size_t kControlWord = 0, kVectorControl = 24, kXmm = 160, kMagic = 464, kHeader = 512;
constexpr std::uint32_t kMagicValue = 0x46505853;  // FP_XSTATE_MAGIC1

std::uint64_t enabled_components() noexcept {
  std::uint32_t low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return std::uint64_t{high} << 32 | low;
}

std::uint32_t offset_of(unsigned component) noexcept {
  unsigned a, b, c, d;
  __cpuid_count(0xd, component, a, b, c, d);
  return b;
}

// rdfsbase where the kernel allows it (AT_HWCAP2's bit 1), else the system call.
bool reads_bases() noexcept {
  constexpr unsigned long kFsGsBase = 1 << 1;
  return (getauxval(AT_HWCAP2) & kFsGsBase) != 0;
}

void read_bases(WalkRegisters& to) noexcept {
  if (reads_bases()) {
    asm volatile("rdfsbase %0" : "=r"(to.fs_base));
    asm volatile("rdgsbase %0" : "=r"(to.gs_base));
    return;
  }
  constexpr int kGetFs = 0x1003, kGetGs = 0x1004;  // ARCH_GET_FS, ARCH_GET_GS
  raw_syscall(SYS_arch_prctl, kGetFs, &to.fs_base);
  raw_syscall(SYS_arch_prctl, kGetGs, &to.gs_base);
}

// Those of which the frame has more than their initial state.
std::uint64_t components_in(const std::uint8_t* frame) noexcept {
  std::uint32_t magic = 0;
  std::memcpy(&magic, frame + kMagic, sizeof magic);
  std::uint64_t present = kOldFloatComponent | kSseComponent;
  if (magic == kMagicValue) std::memcpy(&present, frame + kHeader, sizeof present);
  return present;
}

void read_vectors(const std::uint8_t* frame, std::uint64_t present, const VectorLayout& layout,
                  WalkRegisters& to) noexcept {
  constexpr std::size_t kXmmBytes = 16, kHalfZmmBytes = 32, kClassic = 16;
  std::memset(to.vectors, 0, sizeof to.vectors);
  to.masks = {};
  for (std::size_t i = 0; i < kClassic; ++i) {
    if ((present & kSseComponent) != 0) std::memcpy(to.vectors[i], frame + kXmm + kXmmBytes * i, kXmmBytes);
    if (layout.state >= VectorState::kAvx && (present & kAvxComponent) != 0)
      std::memcpy(to.vectors[i] + kXmmBytes, frame + layout.upper_halves + kXmmBytes * i, kXmmBytes);
  }
  if (layout.state != VectorState::kAvx512) return;
  if ((present & kMaskComponent) != 0) std::memcpy(to.masks.data(), frame + layout.masks, sizeof to.masks);
  for (std::size_t i = 0; (present & kUpperZmmComponent) != 0 && i < kClassic; ++i)
    std::memcpy(to.vectors[i] + kHalfZmmBytes, frame + layout.upper_zmm + kHalfZmmBytes * i, kHalfZmmBytes);
  if ((present & kHighZmmComponent) != 0)
    std::memcpy(to.vectors[kClassic], frame + layout.high_zmm, kClassic * kVectorBytes);
}

}  // namespace

VectorLayout VectorLayout::of_processor() noexcept {
  VectorLayout layout;
  unsigned a, b, c, d;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0 || (c & bit_AVX) == 0) return layout;
  const std::uint64_t enabled = enabled_components();
  if ((enabled & kAvxComponent) == 0) return layout;
  layout.state = VectorState::kAvx;
  layout.upper_halves = offset_of(2);
  __cpuid_count(7, 0, a, b, c, d);
  constexpr unsigned kNeeded = bit_AVX512F | bit_AVX512BW | bit_AVX512VL;  // 64-bit masks, and short vectors
  if ((b & kNeeded) != kNeeded || (enabled & kAvx512Components) != kAvx512Components) return layout;
  layout.state = VectorState::kAvx512;
  layout.masks = offset_of(5);
  layout.upper_zmm = offset_of(6);
  layout.high_zmm = offset_of(7);
  return layout;
}

void read_registers(const ucontext_t& context, const VectorLayout& layout, WalkRegisters& to) noexcept {
  const auto& gregs = context.uc_mcontext.gregs;
  to.general = general_registers(context);
  to.flags = walk_flags(static_cast<std::uint64_t>(gregs[REG_EFL]));
  to.pc = static_cast<std::uint64_t>(gregs[REG_RIP]);
  read_bases(to);
  const auto* frame = reinterpret_cast<const std::uint8_t*>(context.uc_mcontext.fpregs);
  std::memcpy(&to.float_control, frame + kControlWord, sizeof to.float_control);
  std::memcpy(&to.vector_control, frame + kVectorControl, sizeof to.vector_control);
  const std::uint64_t present = components_in(frame);
  to.float_frame = (present & kOldFloatComponent) != 0 ? frame : nullptr;
  read_vectors(frame, present, layout, to);
}

// The exceptions' masks; the flags below them are what stubs have raised.
constexpr std::uint32_t kAllMasked = 0x1f80;

void VectorControl::set(std::uint32_t of_program) noexcept { _mm_setcsr(of_program | kAllMasked); }

std::uint32_t VectorControl::stored(std::uint32_t of_program) noexcept {
  return (_mm_getcsr() & ~kAllMasked) | (of_program & kAllMasked);
}

VectorControl::VectorControl(std::uint32_t of_program) noexcept : before_(_mm_getcsr()) { set(of_program); }

VectorControl::~VectorControl() { _mm_setcsr(before_); }

}  // namespace nvmemu
