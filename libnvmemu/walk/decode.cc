// SPDX-License-Identifier: Apache-2.0
#include "walk/decode.h"

#include <algorithm>
#include <cstring>

#include "walk/build_recipe.h"
#include "walk/by_hand.h"
#include "walk/gather.h"
#include "walk/zydis_decode.h"
#include "walk/zydis_registers.h"

namespace nvmemu {
namespace {

WalkOperand operand_of(const ZydisDecodedOperand& operand, const ZydisDecodedInstruction& instruction,
                       std::uint64_t next) {
  const auto& memory = operand.mem;
  WalkOperand result;
  result.displacement = displacement_of(operand);
  if (memory.base == ZYDIS_REGISTER_RIP || memory.base == ZYDIS_REGISTER_EIP) {
    result.displacement += static_cast<std::int64_t>(next);
  } else {
    result.base = general_of(memory.base);
  }
  result.index = general_of(memory.index);
  result.scale = memory.scale;
  result.is_short = instruction.address_width == 32;
  if (memory.segment == ZYDIS_REGISTER_FS) result.segment = Segment::kFs;
  if (memory.segment == ZYDIS_REGISTER_GS) result.segment = Segment::kGs;
  return result;
}

void add_registers(const ZydisDecoded& decoded, MicroOp& op) {
  for (const ZydisDecodedOperand& operand : decoded.all()) {
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) {
      const RegisterSet set = set_of(operand.reg.value);
      if (reads(operand)) op.for_data |= set;
      if (writes(operand)) op.written |= set;
    } else if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) {
      op.for_address |= set_of(operand.mem.base) | set_of(operand.mem.index);
    }
  }
  const auto* flags = decoded.instruction.cpu_flags;
  constexpr ZydisAccessedFlagsMask kStatus = ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_AF |
                                             ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF;
  if (flags == nullptr || (flags->tested & kStatus) == 0) op.for_data &= ~kFlagsSet;
}

// The first operand in memory that the instruction says: not the stack's.
void add_memory(const ZydisDecoded& decoded, MicroOp& op) {
  const Operands visible = decoded.visible();
  const auto memory = std::find_if(visible.begin(), visible.end(), [](const ZydisDecodedOperand& operand) {
    return operand.type == ZYDIS_OPERAND_TYPE_MEMORY;
  });
  if (memory == visible.end()) return;
  op.operand = operand_of(*memory, decoded.instruction, op.next());
  if (memory->mem.type != ZYDIS_MEMOP_TYPE_MEM && memory->mem.type != ZYDIS_MEMOP_TYPE_VSIB) {
    op.for_data |= op.for_address;  // lea
    op.for_address = 0;
    return;
  }
  op.reads_memory = reads(*memory);
  op.writes_memory = writes(*memory);
  op.operand_bytes = static_cast<std::uint8_t>(std::min(memory->size / 8, 255));
}

// bt and its like with a register: the bit may lie anywhere before or behind the operand.
void add_bit(const ZydisDecoded& decoded, MicroOp& op) {
  constexpr ZydisMnemonic kBitTests[] = {ZYDIS_MNEMONIC_BT, ZYDIS_MNEMONIC_BTS, ZYDIS_MNEMONIC_BTR,
                                         ZYDIS_MNEMONIC_BTC};
  const ZydisDecodedOperand& by = decoded.operands[1];
  if (!is_in(decoded.instruction.mnemonic, kBitTests) || !op.reads_memory ||
      by.type != ZYDIS_OPERAND_TYPE_REGISTER) {
    return;
  }
  op.bit = general_of(by.reg.value);
  op.for_address |= set_of(by.reg.value);
}

// What is waited for by its result, where all that it reads is there. Rounded: a model's, not a simulator's.
std::uint8_t latency_of(const ZydisDecoded& decoded, const MicroOp& op) {
  switch (decoded.instruction.mnemonic) {
    case ZYDIS_MNEMONIC_IMUL:
    case ZYDIS_MNEMONIC_MUL:
    case ZYDIS_MNEMONIC_MULX:
      return 3;
    case ZYDIS_MNEMONIC_DIV:
    case ZYDIS_MNEMONIC_IDIV:
      return 12;
    case ZYDIS_MNEMONIC_DIVSS:
    case ZYDIS_MNEMONIC_DIVSD:
    case ZYDIS_MNEMONIC_SQRTSS:
    case ZYDIS_MNEMONIC_SQRTSD:
    case ZYDIS_MNEMONIC_VDIVSS:
    case ZYDIS_MNEMONIC_VDIVSD:
    case ZYDIS_MNEMONIC_VSQRTSD:
      return 14;
    default:
      return (op.written & ~(kFlagsSet | (kFlagsSet - 1))) != 0 ? 3 : 1;
  }
}

// xor of a register with itself and its like: nothing is waited for.
bool is_zeroing(const ZydisDecoded& decoded) {
  const Operands visible = decoded.visible();
  switch (decoded.instruction.mnemonic) {
    case ZYDIS_MNEMONIC_XOR:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_PXOR:
    case ZYDIS_MNEMONIC_XORPS:
    case ZYDIS_MNEMONIC_XORPD:
    case ZYDIS_MNEMONIC_VPXOR:
    case ZYDIS_MNEMONIC_VXORPS:
    case ZYDIS_MNEMONIC_VPXORD:
    case ZYDIS_MNEMONIC_VPXORQ:
      break;
    default:
      return false;
  }
  const ZydisDecodedOperand& one = visible[visible.size() - 2];
  const ZydisDecodedOperand& other = visible[visible.size() - 1];
  return one.type == ZYDIS_OPERAND_TYPE_REGISTER && other.type == ZYDIS_OPERAND_TYPE_REGISTER &&
         one.reg.value == other.reg.value;
}

}  // namespace

bool decode_op(const std::uint8_t* code, std::size_t available, std::uint64_t address, VectorState vectors,
               DecodedOp& to) noexcept {
  ZydisDecoded decoded;
  if (!ZYAN_SUCCESS(decode(code, available, decoded))) return false;
  to = {};
  MicroOp& op = to.op;
  op.address = address;
  op.length = decoded.instruction.length;
  op.mnemonic = static_cast<std::uint16_t>(decoded.instruction.mnemonic);
  std::memcpy(op.code.data(), code, op.length);
  add_registers(decoded, op);
  add_memory(decoded, op);
  add_bit(decoded, op);
  op.is_locked = op.writes_memory && is_locked(decoded.instruction);
  op.is_non_temporal = is_non_temporal_store(decoded.instruction.mnemonic);
  if (!decode_by_hand(decoded, op) && !decode_gather(decoded, vectors, op)) {
    op.stop = build_recipe(decoded, code, vectors, to.recipe);
    op.kind = op.stop == WalkStop::kNone ? OpKind::kNative : OpKind::kStop;
    op.is_old_float = to.recipe.uses_old_float;
  }
  op.latency = latency_of(decoded, op);
  if (is_zeroing(decoded) && !op.reads_memory) op.for_data = 0;
  return true;
}

}  // namespace nvmemu
