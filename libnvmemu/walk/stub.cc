// SPDX-License-Identifier: Apache-2.0
#include "walk/stub.h"

#include <array>
#include <cstring>
#include <initializer_list>

namespace nvmemu {
namespace {

enum class Way : bool { kLoad, kSave };

// Instructions, one after another. All memory is relative to the context, which is one of r8 to r11: its
// number's high bit is said in a prefix, and it needs no SIB byte.
class Writer {
 public:
  Writer(std::uint8_t* to, std::int8_t context) : to_(to), context_(static_cast<std::uint8_t>(context & 7)) {}

  void bytes(std::initializer_list<unsigned> values) {
    for (const unsigned value : values) to_[size_++] = static_cast<std::uint8_t>(value);
  }
  void copy(const std::uint8_t* from, std::size_t count) {
    std::memcpy(to_ + size_, from, count);
    size_ += count;
  }

  // mov between a general register and the context.
  void general(unsigned reg, std::size_t offset, Way way) {
    bytes({0x49u | (reg >> 3) << 2, way == Way::kLoad ? 0x8bu : 0x89u});
    operand(reg, offset);
  }
  // mov, of registers.
  void move(unsigned to, unsigned from) {
    bytes({0x48u | (from >> 3) << 2 | to >> 3, 0x89, 0xc0u | (from & 7) << 3 | (to & 7)});
  }

  void vector(unsigned reg, VectorForm form, Way way) {
    const unsigned opcode = way == Way::kLoad ? 0x6f : 0x7f;
    const unsigned extension = reg >> 3 & 1, high = reg >> 4 & 1;
    switch (form) {
      case VectorForm::kSse:  // movdqu
        bytes({0xf3, 0x41u | extension << 2, 0x0f, opcode});
        break;
      case VectorForm::kAvx:  // vmovdqu, 256 bits
        bytes({0xc4, 0x41u | (extension ^ 1) << 7, 0x7e, opcode});
        break;
      case VectorForm::kAvx512:  // vmovdqu64, 512 bits
        bytes({0x62, 0x41u | (extension ^ 1) << 7 | (high ^ 1) << 4, 0xfe, 0x48, opcode});
        break;
    }
    operand(reg, offsetof(WalkRegisters, vectors) + kVectorBytes * reg);
  }
  // Zeros from the 256th bit on.
  void clear_upper(unsigned reg) {
    const std::size_t upper = offsetof(WalkRegisters, vectors) + kVectorBytes * reg + kVectorBytes / 2;
    for (std::size_t at = 0; at < kVectorBytes / 2; at += 8) {
      bytes({0x49, 0xc7});  // mov quadword, sign-extended constant
      operand(0, upper + at);
      word(0);
    }
  }
  void mask(unsigned reg, Way way) {  // kmovq
    bytes({0xc4, 0xc1, 0xf8, way == Way::kLoad ? 0x90u : 0x91u});
    operand(reg, offsetof(WalkRegisters, masks) + 8 * reg);
  }

  std::size_t size() const { return size_; }

 private:
  void operand(unsigned reg, std::size_t offset) {
    bytes({0x80u | (reg & 7) << 3 | context_});
    word(static_cast<std::uint32_t>(offset));
  }
  void word(std::uint32_t value) {
    std::memcpy(to_ + size_, &value, sizeof value);
    size_ += sizeof value;
  }

  std::uint8_t* to_;
  std::uint8_t context_;
  std::size_t size_ = 0;
};

template <typename Use>
void for_each(std::uint32_t set, Use use) {
  for (; set != 0; set &= set - 1) use(static_cast<unsigned>(__builtin_ctz(set)));
}

constexpr std::size_t offset_of_general(unsigned reg) { return offsetof(WalkRegisters, general) + 8 * reg; }

void load(const StubRecipe& recipe, Writer& writer) {
  writer.bytes({0xf3, 0x0f, 0x1e, 0xfa});  // endbr64: it is called by a pointer
  writer.move(static_cast<unsigned>(recipe.context), kRdi);
  if (recipe.loads_flags) {
    writer.general(kRax, offsetof(WalkRegisters, flags), Way::kLoad);
    writer.bytes({0x04, 0x7f});  // add $127, %al: overflows if it is 1
    writer.bytes({0x9e});        // sahf
  }
  if (recipe.pointer >= 0 && recipe.pointer != kRsi) writer.move(static_cast<unsigned>(recipe.pointer), kRsi);
  for_each(recipe.general_used,
           [&](unsigned reg) { writer.general(reg, offset_of_general(reg), Way::kLoad); });
  if (recipe.stack >= 0)
    writer.general(static_cast<unsigned>(recipe.stack), offset_of_general(kRsp), Way::kLoad);
  for_each(recipe.vectors_used, [&](unsigned reg) { writer.vector(reg, recipe.form, Way::kLoad); });
  for_each(recipe.masks_used, [&](unsigned reg) { writer.mask(reg, Way::kLoad); });
}

void save(const StubRecipe& recipe, bool clears_512, Writer& writer) {
  for_each(recipe.masks_written, [&](unsigned reg) { writer.mask(reg, Way::kSave); });
  for_each(recipe.vectors_written, [&](unsigned reg) {
    writer.vector(reg, recipe.form, Way::kSave);
    if (recipe.form == VectorForm::kAvx && clears_512) writer.clear_upper(reg);
  });
  for_each(recipe.general_written,
           [&](unsigned reg) { writer.general(reg, offset_of_general(reg), Way::kSave); });
  if (recipe.writes_stack_pointer)
    writer.general(static_cast<unsigned>(recipe.stack), offset_of_general(kRsp), Way::kSave);
  if (recipe.saves_flags) {
    writer.bytes({0x9f});              // lahf
    writer.bytes({0x0f, 0x90, 0xc0});  // seto %al
    writer.general(kRax, offsetof(WalkRegisters, flags), Way::kSave);
  }
  writer.bytes({0x31, 0xc0, 0xc3});  // xor %eax, %eax; ret
}

}  // namespace

bool keeps_saved_registers(const StubRecipe& recipe) noexcept {
  constexpr unsigned kSaved = 1u << kRbx | 1u << kRbp | 0xf000;
  const auto bit = [](std::int8_t reg) { return reg >= 0 ? 1u << reg : 0; };
  return ((recipe.general_used | bit(recipe.pointer) | bit(recipe.stack)) & kSaved) == 0;
}

std::size_t write_stub(const StubRecipe& recipe, bool clears_512, std::uint8_t* to) noexcept {
  Writer writer(to, recipe.context);
  load(recipe, writer);
  writer.copy(recipe.code.data(), recipe.length);
  save(recipe, clears_512, writer);
  return writer.size();
}

Stub make_stub(const StubRecipe& recipe, bool clears_512, Arena& arena) noexcept {
  std::array<std::uint8_t, kLongestStub> code;
  const std::size_t size = write_stub(recipe, clears_512, code.data());
  std::uint8_t* const at = arena.take(size);
  if (at == nullptr) return nullptr;
  std::memcpy(at, code.data(), size);
  return reinterpret_cast<Stub>(reinterpret_cast<std::uintptr_t>(arena.code_at(at)));
}

}  // namespace nvmemu
