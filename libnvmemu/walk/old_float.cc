// SPDX-License-Identifier: Apache-2.0
#include "walk/old_float.h"

#include <xmmintrin.h>

#include <cstring>

namespace nvmemu {
namespace {

constexpr std::uint16_t kAllMasked = 0x3f;

// Intel SDM volume 1, 10.5.1: what fxsave writes.
constexpr std::size_t kImageBytes = 512, kControl = 0, kStatus = 2, kVectorControl = 24, kVectors = 160;
// A pending exception would be raised here.
constexpr std::uint16_t kPending = 1 << 7 | 1 << 15;

}  // namespace

void OldFloat::load(const WalkRegisters& registers) noexcept {
  is_used_ = true;
  asm volatile("fnstcw %0" : "=m"(before_));
  alignas(16) std::uint8_t image[kImageBytes];
  asm volatile("fninit; fxsave64 %0" : "=m"(image));
  std::uint16_t status = 0;
  if (registers.float_frame != nullptr) {
    std::memcpy(image, registers.float_frame, kVectorControl);
    constexpr std::size_t kRegisters = kVectorControl + 8;
    std::memcpy(image + kRegisters, registers.float_frame + kRegisters, kVectors - kRegisters);
    std::memcpy(&status, image + kStatus, sizeof status);
  }
  const std::uint16_t control = registers.float_control | kAllMasked;
  status &= static_cast<std::uint16_t>(~kPending);
  std::memcpy(image + kControl, &control, sizeof control);
  std::memcpy(image + kStatus, &status, sizeof status);
  // Vectors, in the image as they were, are not kept in it by the compiler.
  asm volatile("fxrstor64 %0"
               :
               : "m"(image)
               : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
                 "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

OldFloat::~OldFloat() {
  if (is_used_) asm volatile("fninit; fldcw %0" : : "m"(before_));
}

void OldFloat::set_control(std::uint16_t of_program) noexcept {
  const std::uint16_t control = of_program | kAllMasked;
  if (is_used_) asm volatile("fldcw %0" : : "m"(control));
}

}  // namespace nvmemu
