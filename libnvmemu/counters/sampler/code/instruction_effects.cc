// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/code/instruction_effects.h"

#include "counters/sampler/code/memory_operand.h"
#include "walk/zydis_decode.h"

namespace nvmemu {
namespace {

// What a called function may change: System V ABI, AMD64 supplement, figure 3.4.
constexpr RegisterSet kCallerSaved = general_set(kRax) | general_set(kRcx) | general_set(kRdx) |
                                     general_set(kRsi) | general_set(kRdi) | general_set(kR8) |
                                     general_set(kR9) | general_set(kR10) | general_set(kR11);

void add_access(const ZydisDecodedInstruction& instruction, const ZydisDecodedOperand& operand,
                InstructionEffects& effects) {
  const bool loads = reads(operand), stores = writes(operand);
  if ((!loads && !stores) || touches_no_data(instruction)) return;
  const auto known = operand_of(operand, instruction.address_width);
  if (!known || effects.access_count == InstructionEffects::kAccesses) {
    effects.has_other_accesses = true;
    return;
  }
  const bool whole_lines = stores && (effects.is_repeated || is_non_temporal_store(instruction.mnemonic));
  effects.accesses[effects.access_count++] = {*known, static_cast<std::uint16_t>(operand.size / 8), loads,
                                              stores, whole_lines};
}

// add/sub/inc/dec of a whole register, by a constant or by another register.
bool is_addition(const ZydisDecodedInstruction& instruction, Operands operands, InstructionEffects& effects) {
  const auto mnemonic = instruction.mnemonic;
  const auto moves = [&](std::int64_t step, RegisterSet by = 0) {
    effects.step = step;
    effects.step_by = by;
    return true;
  };
  if (mnemonic == ZYDIS_MNEMONIC_INC) return moves(1);
  if (mnemonic == ZYDIS_MNEMONIC_DEC) return moves(-1);
  if ((mnemonic != ZYDIS_MNEMONIC_ADD && mnemonic != ZYDIS_MNEMONIC_SUB) || operands.size() < 2) return false;
  const std::int64_t sign = mnemonic == ZYDIS_MNEMONIC_ADD ? 1 : -1;
  if (operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) return moves(sign * operands[1].imm.value.s);
  if (operands[1].type != ZYDIS_OPERAND_TYPE_REGISTER) return false;
  const std::int8_t by = general_of(operands[1].reg.value);
  return by != MemoryOperand::kNone && by != effects.stepped && moves(0, bit_of(by));
}

// lea constant(%reg),%reg, or with another register added.
bool is_address_step(const ZydisDecodedInstruction& instruction, Operands operands,
                     InstructionEffects& effects) {
  if (instruction.mnemonic != ZYDIS_MNEMONIC_LEA || operands.size() < 2) return false;
  const auto& mem = operands[1].mem;
  if (general_of(mem.base) != effects.stepped) return false;
  const std::int8_t index = general_of(mem.index);
  if (index == effects.stepped) return false;
  effects.step = displacement_of(operands[1]);
  effects.step_by = bit_of(index);
  return true;
}

void add_register_changes(const ZydisDecodedInstruction& instruction, Operands all, Operands visible,
                          InstructionEffects& effects) {
  if (!visible.empty() && visible[0].type == ZYDIS_OPERAND_TYPE_REGISTER && visible[0].size >= 32 &&
      writes(visible[0])) {
    effects.stepped = general_of(visible[0].reg.value);
  }
  const bool steps = effects.stepped >= 0 && (is_addition(instruction, visible, effects) ||
                                              is_address_step(instruction, visible, effects));
  if (!steps) effects.stepped = MemoryOperand::kNone;
  for (const ZydisDecodedOperand& operand : all) {
    if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER || !writes(operand)) continue;
    const std::int8_t general = general_of(operand.reg.value);
    if (general >= 0 && !(steps && general == effects.stepped)) effects.written |= bit_of(general);
  }
  if (instruction.meta.category == ZYDIS_CATEGORY_CALL) effects.written |= kCallerSaved;
}

}  // namespace

std::optional<InstructionEffects> decode_effects(const std::uint8_t* code, std::size_t available) noexcept {
  ZydisDecoded decoded;
  if (!ZYAN_SUCCESS(decode(code, available, decoded))) return std::nullopt;
  const ZydisDecodedInstruction& instruction = decoded.instruction;
  const Operands all = decoded.all();
  const Operands visible = decoded.visible();

  InstructionEffects effects;
  effects.length = instruction.length;
  const bool is_string = instruction.meta.category == ZYDIS_CATEGORY_STRINGOP;
  effects.is_repeated = is_string && is_repeated(instruction);
  // Calls, pushes and pops use the stack, which stays in the caches.
  for (const ZydisDecodedOperand& operand : is_string ? all : visible) {
    if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.type != ZYDIS_MEMOP_TYPE_AGEN)
      add_access(instruction, operand, effects);
  }
  add_register_changes(instruction, all, visible, effects);
  const auto category = instruction.meta.category;
  if ((category == ZYDIS_CATEGORY_COND_BR || category == ZYDIS_CATEGORY_UNCOND_BR) && !visible.empty() &&
      visible[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && visible[0].imm.is_relative) {
    effects.branch_distance = visible[0].imm.value.s;
  }
  return effects;
}

}  // namespace nvmemu
