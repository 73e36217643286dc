// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/code/instruction.h"

#include "walk/zydis_decode.h"

namespace nvmemu {
namespace {

constexpr ZydisMnemonic kPersistMnemonics[] = {
    ZYDIS_MNEMONIC_CLFLUSH, ZYDIS_MNEMONIC_CLFLUSHOPT, ZYDIS_MNEMONIC_CLWB,
    ZYDIS_MNEMONIC_SFENCE,  ZYDIS_MNEMONIC_MFENCE,     ZYDIS_MNEMONIC_LFENCE,
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
  return result;
}

}  // namespace nvmemu
