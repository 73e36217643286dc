// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/code/instruction.h"

#include "counters/sampler/code/memory_operand.h"
#include "walk/general_registers.h"
#include "walk/zydis_decode.h"

namespace nvmemu {
namespace {

constexpr ZydisMnemonic kPersistMnemonics[] = {
    ZYDIS_MNEMONIC_CLFLUSH, ZYDIS_MNEMONIC_CLFLUSHOPT, ZYDIS_MNEMONIC_CLWB,
    ZYDIS_MNEMONIC_SFENCE,  ZYDIS_MNEMONIC_MFENCE,     ZYDIS_MNEMONIC_LFENCE,
};

constexpr ZydisMnemonic kMaskedMnemonics[] = {
    ZYDIS_MNEMONIC_VMASKMOVPS, ZYDIS_MNEMONIC_VMASKMOVPD, ZYDIS_MNEMONIC_VPMASKMOVD,
    ZYDIS_MNEMONIC_VPMASKMOVQ, ZYDIS_MNEMONIC_MASKMOVDQU, ZYDIS_MNEMONIC_MASKMOVQ,
};

bool is_memory(const ZydisDecodedOperand& operand) {
  return operand.type == ZYDIS_OPERAND_TYPE_MEMORY &&
         (operand.mem.type == ZYDIS_MEMOP_TYPE_MEM || operand.mem.type == ZYDIS_MEMOP_TYPE_VSIB);
}

StallKind kind_of(const ZydisDecodedInstruction& instruction, Operands operands) {
  if (is_in(instruction.mnemonic, kPersistMnemonics)) return StallKind::kPersist;
  if (touches_no_data(instruction)) return StallKind::kOther;
  bool loads = false;
  bool stores = false;
  for (const ZydisDecodedOperand& operand : operands) {
    if (!is_memory(operand)) continue;
    loads |= reads(operand);
    stores |= writes(operand);
  }
  if ((loads || stores) && is_locked(instruction)) return StallKind::kLocked;
  if (loads) return StallKind::kLoad;
  return stores ? StallKind::kStore : StallKind::kOther;
}

// A masked load does not fault where its mask is off; the probe's own would.
bool is_masked(const ZydisDecodedInstruction& instruction) {
  const ZydisRegister mask = instruction.avx.mask.reg;
  return (mask != ZYDIS_REGISTER_NONE && mask != ZYDIS_REGISTER_K0) ||
         is_in(instruction.mnemonic, kMaskedMnemonics);
}

// %gs, gathers, 32-bit addressing and string instructions are left unprobed:
// rare among loads that wait for memory, and each would need a case of its own.
std::optional<MemoryOperand> probeable_operand(const ZydisDecodedInstruction& instruction,
                                               Operands operands) {
  if ((instruction.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPNE)) != 0) return std::nullopt;
  if (is_masked(instruction)) return std::nullopt;
  for (const ZydisDecodedOperand& operand : operands) {
    if (!is_memory(operand) || !reads(operand)) continue;
    return operand_of(operand, instruction.address_width);
  }
  return std::nullopt;
}

// CMP and TEST: what a conditional jump can be fused with while it still reads memory.
bool compares(const ZydisDecodedInstruction& instruction) {
  return instruction.mnemonic == ZYDIS_MNEMONIC_CMP || instruction.mnemonic == ZYDIS_MNEMONIC_TEST;
}

void decode_jump(const ZydisDecodedInstruction& instruction, Operands operands, Instruction& result) {
  if (instruction.meta.category != ZYDIS_CATEGORY_COND_BR || operands.empty()) return;
  const ZydisDecodedOperand& target = operands.front();
  if (target.type != ZYDIS_OPERAND_TYPE_IMMEDIATE || !target.imm.is_relative) return;
  result.jumps_if = true;
  result.jump = static_cast<std::int32_t>(target.imm.value.s);
}

bool falls_through(const ZydisDecodedInstruction& instruction) {
  return instruction.meta.category != ZYDIS_CATEGORY_UNCOND_BR &&
         instruction.meta.category != ZYDIS_CATEGORY_RET;
}

}  // namespace

std::optional<Instruction> decode_instruction(const std::uint8_t* code, std::size_t available) noexcept {
  ZydisDecoded decoded;
  if (!ZYAN_SUCCESS(decode(code, available, decoded))) return std::nullopt;
  const ZydisDecodedInstruction& instruction = decoded.instruction;
  const Operands visible = decoded.visible();

  Instruction result;
  result.kind = kind_of(instruction, visible);
  result.length = instruction.length;
  result.falls_through = falls_through(instruction);
  result.compares_memory = result.kind == StallKind::kLoad && compares(instruction);
  decode_jump(instruction, visible, result);
  if (result.kind == StallKind::kLoad || result.kind == StallKind::kLocked) {
    if (const auto operand = probeable_operand(instruction, visible)) {
      result.probeable = true;
      result.operand = *operand;
    }
  }
  return result;
}

std::uintptr_t effective_address(const MemoryOperand& operand, std::uintptr_t address, std::uint8_t length,
                                 const ucontext_t& context) noexcept {
  const auto value = [&](std::int8_t reg) -> std::uintptr_t {
    if (reg == MemoryOperand::kNone) return 0;
    if (reg == MemoryOperand::kNextInstruction) return address + length;
    return static_cast<std::uintptr_t>(context.uc_mcontext.gregs[kGregs[static_cast<std::uint8_t>(reg)]]);
  };
  const auto start = operand.is_thread_local ? reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer())
                                             : std::uintptr_t{0};
  return start + value(operand.base) + value(operand.index) * operand.scale +
         static_cast<std::uintptr_t>(static_cast<std::intptr_t>(operand.displacement));
}

}  // namespace nvmemu
