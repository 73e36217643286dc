// SPDX-License-Identifier: Apache-2.0
#include "walk/decode/decode.h"

#include <algorithm>
#include <cstring>

#include "walk/decode/build_recipe.h"
#include "walk/decode/by_hand.h"
#include "walk/decode/gather.h"
#include "walk/decode/zydis_decode.h"
#include "walk/decode/zydis_registers.h"

namespace nvmemu {
namespace {

MemoryOperand operand_of(const ZydisDecodedOperand& operand, const ZydisDecodedInstruction& instruction,
                         std::uint64_t next) {
  const auto& memory = operand.mem;
  MemoryOperand result;
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

OpOutline outline_of(const ZydisDecodedInstruction& instruction, std::uint64_t address) {
  OpOutline outline{.length = instruction.length};
  const auto category = instruction.meta.category;
  if (category == ZYDIS_CATEGORY_COND_BR) outline.flow = Flow::kBranch;
  if (category == ZYDIS_CATEGORY_CALL) outline.flow = Flow::kCall;
  if (category == ZYDIS_CATEGORY_UNCOND_BR || category == ZYDIS_CATEGORY_RET) outline.flow = Flow::kAway;
  const auto& immediate = instruction.raw.imm[0];
  // Branches by VEX are Knights Corner's, and none elsewhere.
  outline.has_target = outline.flow != Flow::kOn && immediate.is_relative &&
                       instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
  if (outline.has_target)
    outline.target = address + outline.length + static_cast<std::uint64_t>(immediate.value.s);
  return outline;
}

void add_flow(const ZydisDecoded& decoded, MicroOp& op) {
  const OpOutline outline = outline_of(decoded.instruction, op.address);
  op.flow = outline.flow;
  op.has_constant = outline.has_target;
  op.constant = static_cast<std::int64_t>(outline.target);
}

// The first operand in memory that the instruction says: not the stack's.
void add_memory(const ZydisDecoded& decoded, MicroOp& op) {
  const Operands visible = decoded.visible();
  const auto memory = std::find_if(visible.begin(), visible.end(), [](const ZydisDecodedOperand& operand) {
    return operand.type == ZYDIS_OPERAND_TYPE_MEMORY;
  });
  if (memory == visible.end()) return;
  op.operand = operand_of(*memory, decoded.instruction, op.next());
  op.gather.index = vector_of(memory->mem.index);
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

// add and its like: of a whole register, a constant or another register.
void add_sum(const ZydisDecoded& decoded, MicroOp& op) {
  const auto mnemonic = decoded.instruction.mnemonic;
  const bool is_count = mnemonic == ZYDIS_MNEMONIC_INC || mnemonic == ZYDIS_MNEMONIC_DEC;
  const bool is_plus = mnemonic == ZYDIS_MNEMONIC_INC || mnemonic == ZYDIS_MNEMONIC_ADD;
  if (!is_count && !is_plus && mnemonic != ZYDIS_MNEMONIC_SUB) return;
  std::int64_t added = 1;
  if (!is_count) {
    const ZydisDecodedOperand& by = decoded.operands[1];
    op.from = word_register(by);
    if (op.from < 0 && by.type != ZYDIS_OPERAND_TYPE_IMMEDIATE) return;
    added = op.from >= 0 ? 0 : by.imm.value.s;
  }
  op.to = word_register(decoded.operands[0]);
  op.is_sum = op.to >= 0;
  op.constant = is_plus ? added : -added;
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

// All but what stubs need. False: only a stub can execute it, if anything.
bool describe(const ZydisDecoded& decoded, const std::uint8_t* code, std::uint64_t address, MicroOp& op) {
  const ZydisMnemonic mnemonic = decoded.instruction.mnemonic;
  op = {};
  op.address = address;
  op.length = decoded.instruction.length;
  op.mnemonic = static_cast<std::uint16_t>(mnemonic);
  std::memcpy(op.code.data(), code, op.length);
  add_registers(decoded, op);
  add_memory(decoded, op);
  add_bit(decoded, op);
  add_flow(decoded, op);
  add_sum(decoded, op);
  op.is_compare = mnemonic == ZYDIS_MNEMONIC_CMP || mnemonic == ZYDIS_MNEMONIC_TEST;
  op.is_locked = op.writes_memory && is_locked(decoded.instruction);
  op.is_non_temporal = is_non_temporal_store(mnemonic);
  const bool is_known = decode_by_hand(decoded, op) || decode_gather(decoded, op);
  op.latency = latency_of(decoded, op);
  if (is_zeroing(decoded) && !op.reads_memory) op.for_data = 0;
  return is_known;
}

// A mask register says that it is AVX-512's.
bool has_registers_for(const VectorGather& gather, VectorState vectors) {
  return gather.count == 0 ||
         vectors >= (gather.mask_register >= 0 ? VectorState::kAvx512 : VectorState::kAvx);
}

}  // namespace

OpOutline outline_op(const std::uint8_t* code, std::size_t available, std::uint64_t address) noexcept {
  ZydisDecoded decoded;
  return decode_instruction(code, available, decoded) ? outline_of(decoded.instruction, address)
                                                      : OpOutline{};
}

bool decode_op(const std::uint8_t* code, std::size_t available, std::uint64_t address, MicroOp& op) noexcept {
  ZydisDecoded decoded;
  if (!decode(code, available, decoded)) return false;
  describe(decoded, code, address, op);
  return true;
}

bool decode_op(const std::uint8_t* code, std::size_t available, std::uint64_t address, VectorState vectors,
               DecodedOp& to) noexcept {
  ZydisDecoded decoded;
  if (!decode(code, available, decoded)) return false;
  to = {};
  MicroOp& op = to.op;
  if (describe(decoded, code, address, op) && has_registers_for(op.gather, vectors)) return true;
  op.stop = build_recipe(decoded, code, vectors, to.recipe);
  op.kind = op.stop == WalkStop::kNone ? OpKind::kNative : OpKind::kStop;
  op.is_old_float = to.recipe.uses_old_float;
  return true;
}

}  // namespace nvmemu
