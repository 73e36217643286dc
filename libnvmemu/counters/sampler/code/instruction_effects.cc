// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/code/instruction_effects.h"

#include <algorithm>
#include <span>

#include "counters/sampler/code/zydis_registers.h"
#include "walk/zydis_decode.h"

namespace nvmemu {
namespace {

constexpr ZydisMnemonic kNonTemporalStores[] = {
    ZYDIS_MNEMONIC_MOVNTI,  ZYDIS_MNEMONIC_MOVNTDQ,   ZYDIS_MNEMONIC_MOVNTPS,  ZYDIS_MNEMONIC_MOVNTPD,
    ZYDIS_MNEMONIC_MOVNTQ,  ZYDIS_MNEMONIC_VMOVNTDQ,  ZYDIS_MNEMONIC_VMOVNTPS, ZYDIS_MNEMONIC_VMOVNTPD,
    ZYDIS_MNEMONIC_MOVDIRI, ZYDIS_MNEMONIC_MOVDIR64B,
};

// What a called function may change: System V ABI, AMD64 supplement, figure 3.4.
constexpr RegisterSet kCallerSaved = bit_of(REG_RAX) | bit_of(REG_RCX) | bit_of(REG_RDX) | bit_of(REG_RSI) |
                                     bit_of(REG_RDI) | bit_of(REG_R8) | bit_of(REG_R9) | bit_of(REG_R10) |
                                     bit_of(REG_R11);

bool is_one_of(ZydisMnemonic mnemonic, std::span<const ZydisMnemonic> list) {
  return std::find(list.begin(), list.end(), mnemonic) != list.end();
}

bool is_repeated(const ZydisDecodedInstruction& instruction) {
  constexpr ZydisInstructionAttributes kRepeats =
      ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;
  return (instruction.attributes & kRepeats) != 0 && instruction.meta.category == ZYDIS_CATEGORY_STRINGOP;
}

// The general register, of 64 bits, that `reg` is part of; kNone where it is no such.
std::int8_t whole_greg(ZydisRegister reg) {
  const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
  return is_general_register(whole) ? greg_of(whole) : MemoryOperand::kNone;
}

void add_access(const ZydisDecodedInstruction& instruction, const ZydisDecodedOperand& operand,
                InstructionEffects& effects) {
  const bool reads = (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
  const bool writes = (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
  if ((!reads && !writes) || touches_no_data(instruction)) return;
  const auto known = operand_of(operand, instruction.address_width);
  if (!known || effects.access_count == InstructionEffects::kAccesses) {
    effects.has_other_accesses = true;
    return;
  }
  const bool whole_lines =
      writes && (effects.is_repeated || is_one_of(instruction.mnemonic, kNonTemporalStores));
  effects.accesses[effects.access_count++] = {*known, static_cast<std::uint16_t>(operand.size / 8), reads,
                                              writes, whole_lines};
}

bool is_register(const ZydisDecodedOperand& operand, std::int8_t greg) {
  return operand.type == ZYDIS_OPERAND_TYPE_REGISTER && whole_greg(operand.reg.value) == greg;
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
  const std::int8_t by = whole_greg(operands[1].reg.value);
  return by != MemoryOperand::kNone && by != effects.stepped && moves(0, bit_of(by));
}

// lea constant(%reg),%reg, or with another register added.
bool is_address_step(const ZydisDecodedInstruction& instruction, Operands operands,
                     InstructionEffects& effects) {
  if (instruction.mnemonic != ZYDIS_MNEMONIC_LEA || operands.size() < 2) return false;
  const auto& mem = operands[1].mem;
  if (whole_greg(mem.base) != effects.stepped) return false;
  const std::int8_t index = mem.index == ZYDIS_REGISTER_NONE ? MemoryOperand::kNone : whole_greg(mem.index);
  if (index == effects.stepped) return false;
  effects.step = mem.disp.has_displacement ? mem.disp.value : 0;
  effects.step_by = bit_of(index);
  return true;
}

void add_register_changes(const ZydisDecodedInstruction& instruction, Operands all, Operands visible,
                          InstructionEffects& effects) {
  if (!visible.empty() && visible[0].type == ZYDIS_OPERAND_TYPE_REGISTER && visible[0].size >= 32 &&
      (visible[0].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0) {
    effects.stepped = whole_greg(visible[0].reg.value);
  }
  const bool steps = effects.stepped >= 0 && (is_addition(instruction, visible, effects) ||
                                              is_address_step(instruction, visible, effects));
  if (!steps) effects.stepped = MemoryOperand::kNone;
  for (const ZydisDecodedOperand& operand : all) {
    if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER) continue;
    if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) == 0) continue;
    const std::int8_t greg = whole_greg(operand.reg.value);
    if (greg >= 0 && !(steps && is_register(operand, effects.stepped))) effects.written |= bit_of(greg);
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
  effects.is_repeated = is_repeated(instruction);
  // Calls, pushes and pops use the stack, which stays in the caches.
  const bool is_string = instruction.meta.category == ZYDIS_CATEGORY_STRINGOP;
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
