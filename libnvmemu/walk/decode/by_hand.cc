// SPDX-License-Identifier: Apache-2.0
#include "walk/decode/by_hand.h"

#include "walk/decode/zydis_registers.h"

namespace nvmemu {
namespace {

bool is_word_of_memory(const ZydisDecodedOperand& operand) {
  return operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.type == ZYDIS_MEMOP_TYPE_MEM &&
         (operand.size == 64 || operand.size == 32);
}

std::uint8_t width_of(const ZydisDecodedOperand& operand) {
  return static_cast<std::uint8_t>(operand.size / 8);
}

bool becomes(MicroOp& op, OpKind kind) {
  op.kind = kind;
  op.stop = WalkStop::kNone;
  return true;
}

bool does_nothing(MicroOp& op) {
  op.reads_memory = op.writes_memory = false;
  op.for_address = op.for_data = op.written = 0;
  return becomes(op, OpKind::kNothing);
}

bool decode_move(Operands operands, MicroOp& op) {
  const ZydisDecodedOperand& to = operands[0];
  const ZydisDecodedOperand& from = operands[1];
  op.width = width_of(to);
  op.to = word_register(to);
  op.from = word_register(from);
  const bool is_constant = from.type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  if (is_constant) op.constant = from.imm.value.s;
  if (op.to >= 0 && op.from >= 0) return becomes(op, OpKind::kMove);
  if (op.to >= 0 && is_constant) return becomes(op, OpKind::kConstant);
  if (op.to >= 0 && is_word_of_memory(from)) return becomes(op, OpKind::kLoad);
  if (op.from >= 0 && is_word_of_memory(to)) return becomes(op, OpKind::kStore);
  return is_constant && is_word_of_memory(to) && becomes(op, OpKind::kStoreConstant);
}

bool decode_address(Operands operands, MicroOp& op) {
  op.to = word_register(operands[0]);
  op.width = width_of(operands[0]);
  op.operand.segment = Segment::kNone;
  return op.to >= 0 && becomes(op, OpKind::kAddress);
}

// Near ones of 64 bits: with an operand-size prefix alone, processors differ.
bool is_plain_branch(const ZydisDecodedInstruction& instruction) {
  const bool is_narrowed = (instruction.attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE) != 0 &&
                           (instruction.attributes & ZYDIS_ATTRIB_HAS_REX) == 0;
  return instruction.meta.branch_type != ZYDIS_BRANCH_TYPE_FAR && !is_narrowed;
}

// A jump's or a call's.
bool decode_transfer(const ZydisDecoded& decoded, OpKind kind, MicroOp& op) {
  const ZydisDecodedOperand& target = decoded.operands[0];
  if (!is_plain_branch(decoded.instruction)) return false;
  op.writes_memory = false;
  if (op.has_constant) return becomes(op, kind);
  if (target.type == ZYDIS_OPERAND_TYPE_REGISTER && target.size == 64) {
    op.from = general_of(target.reg.value);
  } else if (!is_word_of_memory(target) || target.size != 64) {
    return false;
  }
  return becomes(op, kind);
}

bool decode_branch(const ZydisDecoded& decoded, MicroOp& op) {
  const auto& instruction = decoded.instruction;
  if (!op.has_constant || !is_plain_branch(instruction)) return false;
  if (instruction.mnemonic == ZYDIS_MNEMONIC_JRCXZ) return becomes(op, OpKind::kCountBranch);
  // Opcodes 70 to 7f, and 0f 80 to 8f: their low digit is the condition.
  const bool is_conditional =
      (instruction.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && (instruction.opcode & 0xf0) == 0x70) ||
      (instruction.opcode_map == ZYDIS_OPCODE_MAP_0F && (instruction.opcode & 0xf0) == 0x80);
  if (!is_conditional) return false;
  op.condition = instruction.opcode & 0xf;
  return becomes(op, OpKind::kBranch);
}

bool decode_return(const ZydisDecoded& decoded, MicroOp& op) {
  if (!is_plain_branch(decoded.instruction)) return false;
  if (decoded.instruction.operand_count_visible > 0)
    op.constant = static_cast<std::int64_t>(decoded.operands[0].imm.value.u);
  return becomes(op, OpKind::kReturn);
}

bool decode_push(const ZydisDecoded& decoded, MicroOp& op) {
  const ZydisDecodedOperand& pushed = decoded.operands[0];
  if (decoded.instruction.operand_width != 64) return false;
  op.writes_memory = false;
  if (pushed.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
    op.constant = pushed.imm.value.s;
    op.has_constant = true;
  } else if (pushed.type == ZYDIS_OPERAND_TYPE_REGISTER) {
    op.from = word_register(pushed);
    if (op.from < 0) return false;
  } else if (!is_word_of_memory(pushed)) {
    return false;
  }
  return becomes(op, OpKind::kPush);
}

bool decode_pop(const ZydisDecoded& decoded, MicroOp& op) {
  op.to = word_register(decoded.operands[0]);
  return decoded.instruction.operand_width == 64 && op.to >= 0 && becomes(op, OpKind::kPop);
}

// Of any width.
OpKind string_kind(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case ZYDIS_MNEMONIC_MOVSB:
    case ZYDIS_MNEMONIC_MOVSW:
    case ZYDIS_MNEMONIC_MOVSD:
    case ZYDIS_MNEMONIC_MOVSQ:
      return OpKind::kCopy;
    case ZYDIS_MNEMONIC_STOSB:
    case ZYDIS_MNEMONIC_STOSW:
    case ZYDIS_MNEMONIC_STOSD:
    case ZYDIS_MNEMONIC_STOSQ:
      return OpKind::kFill;
    case ZYDIS_MNEMONIC_LODSB:
    case ZYDIS_MNEMONIC_LODSW:
    case ZYDIS_MNEMONIC_LODSD:
    case ZYDIS_MNEMONIC_LODSQ:
      return OpKind::kLoadString;
    case ZYDIS_MNEMONIC_CMPSB:
    case ZYDIS_MNEMONIC_CMPSW:
    case ZYDIS_MNEMONIC_CMPSD:
    case ZYDIS_MNEMONIC_CMPSQ:
      return OpKind::kCompareStrings;
    case ZYDIS_MNEMONIC_SCASB:
    case ZYDIS_MNEMONIC_SCASW:
    case ZYDIS_MNEMONIC_SCASD:
    case ZYDIS_MNEMONIC_SCASQ:
      return OpKind::kScan;
    default:
      return OpKind::kStop;
  }
}

bool decode_string(const ZydisDecoded& decoded, MicroOp& op) {
  constexpr std::uint8_t kEqual = 4, kNotEqual = 5;  // conditions
  const auto& instruction = decoded.instruction;
  const OpKind kind = string_kind(instruction.mnemonic);
  const bool compares = kind == OpKind::kCompareStrings || kind == OpKind::kScan;
  const bool repeats_unequal = (instruction.attributes & ZYDIS_ATTRIB_HAS_REPNE) != 0;
  if (kind == OpKind::kStop || instruction.address_width != 64 || (repeats_unequal && !compares))
    return false;
  std::uint8_t width = 0;
  for (const ZydisDecodedOperand& operand : decoded.all()) {
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY) continue;
    if (operand.mem.segment == ZYDIS_REGISTER_FS || operand.mem.segment == ZYDIS_REGISTER_GS) return false;
    width = width_of(operand);
  }
  op.width = width;
  op.is_repeated = is_repeated(instruction);
  op.condition = repeats_unequal ? kNotEqual : kEqual;
  op.reads_memory = op.writes_memory = false;  // not at one operand: the kind's own
  return becomes(op, kind);
}

bool decode_flush(MicroOp& op, bool evicts) {
  op.evicts = evicts;
  op.reads_memory = op.writes_memory = false;
  return becomes(op, OpKind::kFlush);
}

}  // namespace

bool decode_by_hand(const ZydisDecoded& decoded, MicroOp& op) noexcept {
  const auto category = decoded.instruction.meta.category;
  if (touches_no_data(decoded.instruction)) return does_nothing(op);
  if (category == ZYDIS_CATEGORY_STRINGOP) return decode_string(decoded, op);
  if (category == ZYDIS_CATEGORY_COND_BR) return decode_branch(decoded, op);
  switch (decoded.instruction.mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVNTI:
      return decode_move(decoded.visible(), op);
    case ZYDIS_MNEMONIC_LEA:
      return decode_address(decoded.visible(), op);
    case ZYDIS_MNEMONIC_JMP:
      return decode_transfer(decoded, OpKind::kJump, op);
    case ZYDIS_MNEMONIC_CALL:
      return decode_transfer(decoded, OpKind::kCall, op);
    case ZYDIS_MNEMONIC_RET:
      return decode_return(decoded, op);
    case ZYDIS_MNEMONIC_PUSH:
      return decode_push(decoded, op);
    case ZYDIS_MNEMONIC_POP:
      return decode_pop(decoded, op);
    case ZYDIS_MNEMONIC_LEAVE:
      return decoded.instruction.operand_width == 64 && becomes(op, OpKind::kLeave);
    case ZYDIS_MNEMONIC_ENDBR64:
    case ZYDIS_MNEMONIC_PAUSE:
    case ZYDIS_MNEMONIC_CLD:     // walks begin with the direction flag clear
    case ZYDIS_MNEMONIC_LFENCE:  // waits for no store, nor for what is flushed
      return does_nothing(op);
    case ZYDIS_MNEMONIC_MFENCE:
      op.holds_loads = true;
      [[fallthrough]];
    case ZYDIS_MNEMONIC_SFENCE:
      return becomes(op, OpKind::kFence);
    case ZYDIS_MNEMONIC_CLFLUSH:
    case ZYDIS_MNEMONIC_CLFLUSHOPT:
      return decode_flush(op, true);
    case ZYDIS_MNEMONIC_CLWB:
      return decode_flush(op, false);
    case ZYDIS_MNEMONIC_FNSTCW:
      return becomes(op, OpKind::kStoreControl);
    case ZYDIS_MNEMONIC_FLDCW:
      return becomes(op, OpKind::kLoadControl);
    case ZYDIS_MNEMONIC_STMXCSR:
    case ZYDIS_MNEMONIC_VSTMXCSR:
      return becomes(op, OpKind::kStoreVectorControl);
    case ZYDIS_MNEMONIC_LDMXCSR:
    case ZYDIS_MNEMONIC_VLDMXCSR:
      return becomes(op, OpKind::kLoadVectorControl);
    case ZYDIS_MNEMONIC_VZEROUPPER:
      return becomes(op, OpKind::kClearUpper);
    case ZYDIS_MNEMONIC_VZEROALL:
      return becomes(op, OpKind::kClearVectors);
    default:
      return false;
  }
}

}  // namespace nvmemu
