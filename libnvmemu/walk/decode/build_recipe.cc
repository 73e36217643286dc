// SPDX-License-Identifier: Apache-2.0
#include "walk/decode/build_recipe.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "walk/decode/zydis_registers.h"

namespace nvmemu {
namespace {

// What computes and moves, and acts on nothing but registers and its operand. What is not here is not
// executed, new extensions included.
constexpr ZydisInstructionCategory kExecuted[] = {
    ZYDIS_CATEGORY_ADOX_ADCX,     ZYDIS_CATEGORY_AES,         ZYDIS_CATEGORY_AVX,
    ZYDIS_CATEGORY_AVX2,          ZYDIS_CATEGORY_AVX512,      ZYDIS_CATEGORY_BINARY,
    ZYDIS_CATEGORY_AVX512_BITALG, ZYDIS_CATEGORY_BITBYTE,     ZYDIS_CATEGORY_BLEND,
    ZYDIS_CATEGORY_BMI1,          ZYDIS_CATEGORY_AVX512_VBMI, ZYDIS_CATEGORY_BMI2,
    ZYDIS_CATEGORY_BROADCAST,     ZYDIS_CATEGORY_CMOV,        ZYDIS_CATEGORY_COMPRESS,
    ZYDIS_CATEGORY_CONFLICT,      ZYDIS_CATEGORY_CONVERT,     ZYDIS_CATEGORY_DATAXFER,
    ZYDIS_CATEGORY_EXPAND,        ZYDIS_CATEGORY_FLAGOP,      ZYDIS_CATEGORY_FMA4,
    ZYDIS_CATEGORY_FP16,          ZYDIS_CATEGORY_GFNI,        ZYDIS_CATEGORY_IFMA,
    ZYDIS_CATEGORY_KMASK,         ZYDIS_CATEGORY_LOGICAL,     ZYDIS_CATEGORY_LOGICAL_FP,
    ZYDIS_CATEGORY_LZCNT,         ZYDIS_CATEGORY_PCLMULQDQ,   ZYDIS_CATEGORY_RDPID,
    ZYDIS_CATEGORY_ROTATE,        ZYDIS_CATEGORY_SEMAPHORE,   ZYDIS_CATEGORY_SETCC,
    ZYDIS_CATEGORY_SHA,           ZYDIS_CATEGORY_SHIFT,       ZYDIS_CATEGORY_SSE,
    ZYDIS_CATEGORY_STTNI,         ZYDIS_CATEGORY_TBM,         ZYDIS_CATEGORY_VAES,
    ZYDIS_CATEGORY_VBMI2,         ZYDIS_CATEGORY_VFMA,        ZYDIS_CATEGORY_VPCLMULQDQ,
    ZYDIS_CATEGORY_XOP,
};
constexpr ZydisMnemonic kExecutedToo[] = {ZYDIS_MNEMONIC_RDTSC, ZYDIS_MNEMONIC_RDTSCP, ZYDIS_MNEMONIC_XGETBV};
// Within those categories: what sets the whole thread's state.
constexpr ZydisMnemonic kNotExecuted[] = {ZYDIS_MNEMONIC_STD, ZYDIS_MNEMONIC_CLI, ZYDIS_MNEMONIC_STI};
constexpr ZydisInstructionCategory kPrivileged[] = {
    ZYDIS_CATEGORY_SYSTEM, ZYDIS_CATEGORY_IO,       ZYDIS_CATEGORY_IOSTRINGOP, ZYDIS_CATEGORY_INTERRUPT,
    ZYDIS_CATEGORY_VTX,    ZYDIS_CATEGORY_SGX,      ZYDIS_CATEGORY_XSAVE,      ZYDIS_CATEGORY_XSAVEOPT,
    ZYDIS_CATEGORY_RDRAND, ZYDIS_CATEGORY_RDSEED,   ZYDIS_CATEGORY_WAITPKG,    ZYDIS_CATEGORY_UINTR,
    ZYDIS_CATEGORY_PKU,    ZYDIS_CATEGORY_RDWRFSGS,
};
constexpr ZydisInstructionCategory kOldFloat[] = {ZYDIS_CATEGORY_X87_ALU, ZYDIS_CATEGORY_FCMOV,
                                                  ZYDIS_CATEGORY_MMX};
// Of those: what takes the unit's whole state, in which are addresses of instructions and operands, or resets
// it.
constexpr ZydisMnemonic kWholeUnit[] = {ZYDIS_MNEMONIC_FNSTENV, ZYDIS_MNEMONIC_FLDENV, ZYDIS_MNEMONIC_FNSAVE,
                                        ZYDIS_MNEMONIC_FRSTOR,  ZYDIS_MNEMONIC_FNINIT, ZYDIS_MNEMONIC_FXSAVE,
                                        ZYDIS_MNEMONIC_FXRSTOR};
constexpr ZydisInstructionCategory kGathers[] = {ZYDIS_CATEGORY_AVX2GATHER, ZYDIS_CATEGORY_GATHER,
                                                 ZYDIS_CATEGORY_SCATTER};

WalkStop judge(const ZydisDecodedInstruction& instruction) {
  const auto category = instruction.meta.category;
  if (category == ZYDIS_CATEGORY_SYSCALL || category == ZYDIS_CATEGORY_SYSRET ||
      instruction.mnemonic == ZYDIS_MNEMONIC_INT) {
    return WalkStop::kSystemCall;
  }
  if (is_in(instruction.mnemonic, kWholeUnit) || category == ZYDIS_CATEGORY_AMD3DNOW) return WalkStop::kX87;
  if (is_in(category, kOldFloat)) return WalkStop::kNone;
  if (is_in(category, kGathers)) return WalkStop::kGather;
  if (category == ZYDIS_CATEGORY_STRINGOP) return WalkStop::kStringScan;
  if (is_in(instruction.mnemonic, kExecutedToo)) return WalkStop::kNone;
  if (is_in(category, kPrivileged) || instruction.mnemonic == ZYDIS_MNEMONIC_CPUID ||
      (instruction.attributes & ZYDIS_ATTRIB_IS_PRIVILEGED) != 0) {
    return WalkStop::kPrivileged;
  }
  if (!is_in(category, kExecuted) || is_in(instruction.mnemonic, kNotExecuted)) return WalkStop::kUnsupported;
  return WalkStop::kNone;
}

struct Named {
  bool memory = false;
  bool stack_in_reg = false, stack_in_rm = false;  // %rsp, by the field that says it
};

WalkStop name_register(const ZydisDecodedOperand& operand, StubRecipe& recipe, Named& named) {
  const ZydisRegister reg = operand.reg.value;
  const bool is_written = writes(operand);
  if (const auto general = general_of(reg); general == kRsp) {
    if (operand.visibility != ZYDIS_OPERAND_VISIBILITY_EXPLICIT) return WalkStop::kUnsupported;
    named.stack_in_reg |= operand.encoding == ZYDIS_OPERAND_ENCODING_MODRM_REG;
    named.stack_in_rm |= operand.encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM;
    recipe.writes_stack_pointer |= is_written;
    const bool known = operand.encoding == ZYDIS_OPERAND_ENCODING_MODRM_REG ||
                       operand.encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM;
    return known ? WalkStop::kNone : WalkStop::kUnsupported;
  } else if (general >= 0) {
    recipe.general_used |= static_cast<std::uint16_t>(1u << general);
    if (is_written) recipe.general_written |= static_cast<std::uint16_t>(1u << general);
  } else if (const auto vector = vector_of(reg); vector >= 0) {
    recipe.vectors_used |= 1u << vector;
    if (is_written) recipe.vectors_written |= 1u << vector;
  } else if (const auto mask = mask_of(reg); mask >= 0) {
    recipe.masks_used |= static_cast<std::uint8_t>(1u << mask);
    if (is_written) recipe.masks_written |= static_cast<std::uint8_t>(1u << mask);
  } else if (is_x87(reg)) {
    recipe.uses_old_float = true;
  } else if (!is_ambient(reg)) {
    return WalkStop::kUnsupported;
  }
  return WalkStop::kNone;
}

WalkStop name_memory(const ZydisDecodedOperand& operand, Named& named) {
  if (operand.mem.type == ZYDIS_MEMOP_TYPE_VSIB) return WalkStop::kGather;
  const bool is_plain = operand.visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT &&
                        operand.mem.type == ZYDIS_MEMOP_TYPE_MEM &&
                        operand.encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM && !named.memory &&
                        operand.size <= 8 * kVectorBytes && operand.size > 0;
  named.memory = true;
  return is_plain ? WalkStop::kNone : WalkStop::kUnsupported;
}

WalkStop name_operands(const ZydisDecoded& decoded, StubRecipe& recipe, Named& named) {
  for (const ZydisDecodedOperand& operand : decoded.all()) {
    WalkStop stop = WalkStop::kNone;
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) stop = name_register(operand, recipe, named);
    if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) stop = name_memory(operand, named);
    if (operand.type == ZYDIS_OPERAND_TYPE_POINTER) stop = WalkStop::kUnsupported;
    if (stop != WalkStop::kNone) return stop;
  }
  return WalkStop::kNone;
}

std::int8_t first_free(std::span<const std::uint8_t> candidates, unsigned busy) {
  for (const std::uint8_t candidate : candidates) {
    if ((busy >> candidate & 1) == 0) return static_cast<std::int8_t>(candidate);
  }
  return kNoRegister;
}

bool choose_registers(const Named& named, StubRecipe& recipe) {
  // Low registers need no prefix, beside which %ah could not be named. %rbp cannot point without a
  // displacement.
  constexpr std::uint8_t kContexts[] = {11, 10, 9, 8};
  constexpr std::uint8_t kLow[] = {kRsi, kRdi, kRcx, kRdx, kRax, kRbx};
  unsigned busy = recipe.general_used;
  const auto take = [&](std::span<const std::uint8_t> candidates) {
    const std::int8_t chosen = first_free(candidates, busy);
    if (chosen >= 0) busy |= 1u << chosen;
    return chosen;
  };
  recipe.context = take(kContexts);
  if (recipe.context < 0) return false;
  if (named.memory && (recipe.pointer = take(kLow)) < 0) return false;
  const bool names_stack = named.stack_in_reg || named.stack_in_rm;
  return !names_stack || (recipe.stack = take(kLow)) >= 0;
}

// Prefixes that do not belong to what is executed: segments, lock, address size.
bool is_dropped(std::uint8_t prefix, bool drops_repeats) {
  constexpr std::uint8_t kDropped[] = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x67, 0xf0};
  return is_in(prefix, kDropped) || (drops_repeats && (prefix == 0xf2 || prefix == 0xf3));
}
bool is_prefix(std::uint8_t byte) { return is_dropped(byte, true) || byte == 0x66; }

bool is_rex(std::uint8_t byte) { return (byte & 0xf0) == 0x40; }

// A store past the caches, into the overlay, is an ordinary one.
std::uint8_t cached_opcode(const ZydisDecodedInstruction& instruction) {
  switch (instruction.mnemonic) {
    case ZYDIS_MNEMONIC_MOVNTDQ:
    case ZYDIS_MNEMONIC_VMOVNTDQ:
    case ZYDIS_MNEMONIC_MOVNTQ:
      return 0x7f;  // movdqa, movq
    case ZYDIS_MNEMONIC_MOVNTPS:
    case ZYDIS_MNEMONIC_MOVNTPD:
    case ZYDIS_MNEMONIC_VMOVNTPS:
    case ZYDIS_MNEMONIC_VMOVNTPD:
      return 0x29;  // movaps, movapd
    default:
      return instruction.opcode;
  }
}

// The index extensions of the memory operand, in the prefix at `prefix`, off: the pointer is a low register.
void drop_extensions(ZydisInstructionEncoding encoding, bool has_rex, std::uint8_t* prefix) {
  constexpr std::uint8_t kTwoByteVex = 0xc5;
  if (encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY) {
    if (has_rex) prefix[0] &= static_cast<std::uint8_t>(~0x03);
  } else if (prefix[0] != kTwoByteVex) {
    prefix[1] |= 0x60;  // kept inverted there
  }
}

// The same instruction with [pointer] for its operand and another register for %rsp.
bool rewrite(const ZydisDecodedInstruction& instruction, const std::uint8_t* code, const Named& named,
             StubRecipe& recipe) {
  const bool has_modrm = (instruction.attributes & ZYDIS_ATTRIB_HAS_MODRM) != 0;
  const bool has_rex = (instruction.attributes & ZYDIS_ATTRIB_HAS_REX) != 0;
  const bool is_transactional =
      (instruction.attributes & (ZYDIS_ATTRIB_HAS_XACQUIRE | ZYDIS_ATTRIB_HAS_XRELEASE)) != 0;
  std::size_t at = 0;
  std::uint8_t* const to = recipe.code.data();
  for (; at + 1 < instruction.length; ++at) {
    // A REX with another prefix behind it counts for nothing.
    if (is_rex(code[at]) && (is_prefix(code[at + 1]) || is_rex(code[at + 1]))) continue;
    if (!is_prefix(code[at])) break;
    if (!is_dropped(code[at], is_transactional)) to[recipe.length++] = code[at];
  }
  if (has_rex && instruction.raw.rex.offset != at) return false;
  std::uint8_t* const first = to + recipe.length;
  const std::size_t plain = has_modrm ? instruction.raw.modrm.offset : instruction.length;
  std::copy(code + at, code + plain, first);
  recipe.length = static_cast<std::uint8_t>(recipe.length + plain - at);
  if (!has_modrm) return !named.memory && recipe.stack < 0;

  if (cached_opcode(instruction) != instruction.opcode) to[recipe.length - 1] = cached_opcode(instruction);
  std::uint8_t modrm = code[plain];
  std::size_t behind = plain + 1;
  if (named.memory) {
    drop_extensions(instruction.encoding, has_rex, first);
    behind += (instruction.raw.sib.offset != 0 ? 1 : 0) + instruction.raw.disp.size / 8;
    modrm = static_cast<std::uint8_t>((modrm & 0x38) | recipe.pointer);
  }
  if (named.stack_in_rm) modrm = static_cast<std::uint8_t>((modrm & 0xf8) | recipe.stack);
  if (named.stack_in_reg) modrm = static_cast<std::uint8_t>((modrm & 0xc7) | recipe.stack << 3);
  to[recipe.length++] = modrm;
  std::copy(code + behind, code + instruction.length, to + recipe.length);
  recipe.length = static_cast<std::uint8_t>(recipe.length + instruction.length - behind);
  return true;
}

// Whether all six flags come out of it whatever they were before, so that they need not be loaded.
bool sets_all_flags(ZydisMnemonic mnemonic) {
  constexpr ZydisMnemonic kSetAll[] = {ZYDIS_MNEMONIC_ADD, ZYDIS_MNEMONIC_SUB, ZYDIS_MNEMONIC_CMP,
                                       ZYDIS_MNEMONIC_NEG};
  return is_in(mnemonic, kSetAll);
}

void note_flags(const ZydisDecodedInstruction& instruction, StubRecipe& recipe) {
  constexpr ZydisAccessedFlagsMask kStatus = ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_AF |
                                             ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF;
  const auto* flags = instruction.cpu_flags;
  if (flags == nullptr) return;
  recipe.saves_flags = ((flags->modified | flags->set_0 | flags->set_1 | flags->undefined) & kStatus) != 0;
  recipe.loads_flags =
      (flags->tested & kStatus) != 0 || (recipe.saves_flags && !sets_all_flags(instruction.mnemonic));
}

bool set_form(const ZydisDecodedInstruction& instruction, VectorState vectors, StubRecipe& recipe) {
  switch (instruction.encoding) {
    case ZYDIS_INSTRUCTION_ENCODING_LEGACY:
      recipe.form = VectorForm::kSse;
      break;
    case ZYDIS_INSTRUCTION_ENCODING_VEX:
    case ZYDIS_INSTRUCTION_ENCODING_XOP:
      recipe.form = VectorForm::kAvx;
      break;
    case ZYDIS_INSTRUCTION_ENCODING_EVEX:
      recipe.form = VectorForm::kAvx512;
      break;
    default:
      return false;
  }
  if (recipe.form != VectorForm::kSse && vectors == VectorState::kSse) return false;
  const bool needs_512 = recipe.form == VectorForm::kAvx512 || recipe.masks_used != 0;
  return !needs_512 || vectors == VectorState::kAvx512;
}

}  // namespace

WalkStop build_recipe(const ZydisDecoded& decoded, const std::uint8_t* code, VectorState vectors,
                      StubRecipe& recipe) noexcept {
  if (const WalkStop stop = judge(decoded.instruction); stop != WalkStop::kNone) return stop;
  Named named;
  if (const WalkStop stop = name_operands(decoded, recipe, named); stop != WalkStop::kNone) return stop;
  const bool can = set_form(decoded.instruction, vectors, recipe) && choose_registers(named, recipe) &&
                   rewrite(decoded.instruction, code, named, recipe);
  if (!can) return WalkStop::kUnsupported;
  recipe.uses_old_float |= is_in(decoded.instruction.meta.category, kOldFloat);
  note_flags(decoded.instruction, recipe);
  return WalkStop::kNone;
}

}  // namespace nvmemu
