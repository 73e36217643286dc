// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/code/value_flow.h"

#include <algorithm>

#include "counters/sampler/code/guarded_read.h"
#include "walk/zydis_decode.h"
#include "walk/zydis_registers.h"

namespace nvmemu {
namespace {

RegisterSet values_in(ZydisRegister reg) { return set_of(reg) & ~kFlagsSet; }

FrameSlot slot_of(const ZydisDecodedOperandMem& memory, RegisterSet frame) {
  const RegisterSet base = values_in(memory.base);
  if ((base & frame) == 0 || memory.index != ZYDIS_REGISTER_NONE) return {};
  return {base, memory.disp.has_displacement ? static_cast<std::int32_t>(memory.disp.value) : 0};
}

void add_memory(const ZydisDecodedOperand& operand, RegisterSet frame, ValueFlow& flow) {
  const RegisterSet located_by = values_in(operand.mem.base) | values_in(operand.mem.index);
  if (operand.mem.type == ZYDIS_MEMOP_TYPE_AGEN) {
    flow.reads |= located_by;
    return;
  }
  const FrameSlot slot = slot_of(operand.mem, frame);
  if (reads(operand)) {
    flow.from = slot;
    if (slot.base == 0) {
      flow.loads = true;
      flow.located_by |= located_by;
      flow.reads |= located_by;
    }
  }
  if (writes(operand)) {
    flow.to = slot;
    flow.stores |= slot.base == 0;
  }
}

void add_register(const ZydisDecodedOperand& operand, ValueFlow& flow) {
  const RegisterSet set = values_in(operand.reg.value);
  const bool is_part = operand.size < 32 && general_of(operand.reg.value) >= 0;
  if (reads(operand)) flow.reads |= set;
  if ((operand.actions & ZYDIS_OPERAND_ACTION_WRITE) != 0 && !is_part) {
    flow.writes |= set;
  } else if (writes(operand)) {
    flow.changes |= set;
  }
}

void add_control(const ZydisDecodedInstruction& instruction, const ZydisDecodedOperand& first,
                 ValueFlow& flow) {
  using Control = ValueFlow::Control;
  const auto category = instruction.meta.category;
  const bool leaves = category == ZYDIS_CATEGORY_CALL || category == ZYDIS_CATEGORY_RET ||
                      category == ZYDIS_CATEGORY_SYSCALL || category == ZYDIS_CATEGORY_INTERRUPT;
  const bool branches = category == ZYDIS_CATEGORY_COND_BR;
  if (!leaves && !branches && category != ZYDIS_CATEGORY_UNCOND_BR) return;
  ZyanU64 target = 0;
  const bool is_known = !leaves && first.type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
                        ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&instruction, &first, flow.address, &target));
  flow.control = !is_known ? Control::kUnknown : branches ? Control::kBranch : Control::kJump;
  flow.target = target;
}

// A MOVQ leaves the upper half of a vector register zero: only 64 bits are of use.
bool is_copy(const ZydisDecodedInstruction& instruction) {
  switch (instruction.mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
      return instruction.operand_width == 64;
    case ZYDIS_MNEMONIC_MOVQ:
    case ZYDIS_MNEMONIC_VMOVQ:
      return true;
    default:
      return false;
  }
}

// Reads of the page after that of `address` only what an instruction there goes on into: control comes this
// way, so that it is code.
bool decode_at(std::uintptr_t address, ZydisDecoded& decoded) {
  constexpr std::uintptr_t kPageBytes = 4096;
  constexpr std::uintptr_t kLongest = ZYDIS_MAX_INSTRUCTION_LENGTH;
  const std::uintptr_t page_end = (address & ~(kPageBytes - 1)) + kPageBytes;
  for (const std::uintptr_t end : {std::min(address + kLongest, page_end), address + kLongest}) {
    if (!is_readable(address, end)) return false;
    const ZyanStatus status = decode(reinterpret_cast<const std::uint8_t*>(address), end - address, decoded);
    if (status != ZYDIS_STATUS_NO_MORE_DATA) return ZYAN_SUCCESS(status);
  }
  return false;
}

}  // namespace

std::optional<ValueFlow> value_flow_at(std::uintptr_t address, RegisterSet frame) noexcept {
  ZydisDecoded decoded;
  if (!decode_at(address, decoded)) return std::nullopt;
  ValueFlow flow{.address = address, .length = decoded.instruction.length};
  add_control(decoded.instruction, decoded.operands[0], flow);
  flow.copies = is_copy(decoded.instruction);
  for (const ZydisDecodedOperand& operand : decoded.all()) {
    if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) add_memory(operand, frame, flow);
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) add_register(operand, flow);
  }
  return flow;
}

}  // namespace nvmemu
