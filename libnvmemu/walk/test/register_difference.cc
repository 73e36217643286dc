// SPDX-License-Identifier: Apache-2.0
#include "walk/test/register_difference.h"

#include <cstdio>
#include <cstring>

namespace nvmemu {
namespace {

constexpr std::uint64_t kAllFlags = kLowFlags << 8 | 1;

std::uint64_t word_at(const std::uint8_t* bytes) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

RegisterDifference in_vectors(const WalkRegisters& walked, const WalkRegisters& native) noexcept {
  for (std::size_t i = 0; i < kVectorRegisters; ++i) {
    for (std::size_t at = 0; at < kVectorBytes; at += sizeof(std::uint64_t)) {
      const std::uint64_t ours = word_at(walked.vectors[i] + at), theirs = word_at(native.vectors[i] + at);
      if (ours != theirs) return {"vector", i, ours, theirs};
    }
  }
  return {};
}

RegisterDifference in_registers(const WalkRegisters& walked, const WalkRegisters& native) noexcept {
  if (walked.pc != native.pc) return {"pc", 0, walked.pc, native.pc};
  for (std::size_t i = 0; i < kGeneralRegisters; ++i) {
    if (walked.general[i] != native.general[i]) return {"register", i, walked.general[i], native.general[i]};
  }
  if (((walked.flags ^ native.flags) & kAllFlags) != 0)
    return {"flags", 0, walked.flags & kAllFlags, native.flags & kAllFlags};
  for (std::size_t i = 0; i < kMaskRegisters; ++i) {
    if (walked.masks[i] != native.masks[i]) return {"mask", i, walked.masks[i], native.masks[i]};
  }
  if (const RegisterDifference found = in_vectors(walked, native)) return found;
  if (walked.vector_control != native.vector_control)
    return {"vector control", 0, walked.vector_control, native.vector_control};
  if (walked.float_control != native.float_control)
    return {"x87 control", 0, walked.float_control, native.float_control};
  return {};
}

// Intel SDM volume 1, 10.5.1: what fxsave writes.
RegisterDifference in_old_float(const OldFloatState& walked, const OldFloatState& native) noexcept {
  constexpr std::size_t kStatus = 2, kTags = 4, kRegisters = 32, kApart = 16, kBytes = 10, kCount = 8;
  constexpr std::uint64_t kTwoBytes = 0xffff;
  const std::uint64_t ours = word_at(&walked[kStatus]) & kTwoBytes,
                      theirs = word_at(&native[kStatus]) & kTwoBytes;
  if (ours != theirs) return {"x87 status", 0, ours, theirs};
  if (walked[kTags] != native[kTags]) return {"x87 tags", 0, walked[kTags], native[kTags]};
  for (std::size_t i = 0; i < kCount; ++i) {
    const std::size_t at = kRegisters + i * kApart;
    if (std::memcmp(&walked[at], &native[at], kBytes) != 0)
      return {"x87 register", i, word_at(&walked[at]), word_at(&native[at])};
  }
  return {};
}

}  // namespace

OldFloatState old_float_state() noexcept {
  alignas(16) OldFloatState state;
  asm volatile("fxsave64 %0" : "=m"(state));
  return state;
}

std::string RegisterDifference::text() const {
  if (what == nullptr) return "";
  std::array<char, 120> line{};
  std::snprintf(line.data(), line.size(), "%s %zu: %lx, not %lx", what, number, walked, native);
  return line.data();
}

RegisterDifference first_difference(const WalkRegisters& walked, const OldFloatState* old_float,
                                    const ucontext_t& native, const VectorLayout& layout) noexcept {
  WalkRegisters registers;
  read_registers(native, layout, registers);
  const RegisterDifference found = in_registers(walked, registers);
  if (found || old_float == nullptr) return found;
  OldFloatState state;
  std::memcpy(state.data(), native.uc_mcontext.fpregs, state.size());
  return in_old_float(*old_float, state);
}

}  // namespace nvmemu
