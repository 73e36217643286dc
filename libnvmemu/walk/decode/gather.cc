// SPDX-License-Identifier: Apache-2.0
#include "walk/decode/gather.h"

#include <algorithm>
#include <iterator>

#include "walk/decode/zydis_registers.h"

namespace nvmemu {
namespace {

struct Form {
  ZydisMnemonic mnemonic;
  OpKind kind;
  std::uint8_t index_bytes, element_bytes;
};

constexpr Form kForms[] = {
    {ZYDIS_MNEMONIC_VPGATHERDD, OpKind::kGather, 4, 4},
    {ZYDIS_MNEMONIC_VGATHERDPS, OpKind::kGather, 4, 4},
    {ZYDIS_MNEMONIC_VPGATHERDQ, OpKind::kGather, 4, 8},
    {ZYDIS_MNEMONIC_VGATHERDPD, OpKind::kGather, 4, 8},
    {ZYDIS_MNEMONIC_VPGATHERQD, OpKind::kGather, 8, 4},
    {ZYDIS_MNEMONIC_VGATHERQPS, OpKind::kGather, 8, 4},
    {ZYDIS_MNEMONIC_VPGATHERQQ, OpKind::kGather, 8, 8},
    {ZYDIS_MNEMONIC_VGATHERQPD, OpKind::kGather, 8, 8},
    {ZYDIS_MNEMONIC_VPSCATTERDD, OpKind::kScatter, 4, 4},
    {ZYDIS_MNEMONIC_VSCATTERDPS, OpKind::kScatter, 4, 4},
    {ZYDIS_MNEMONIC_VPSCATTERDQ, OpKind::kScatter, 4, 8},
    {ZYDIS_MNEMONIC_VSCATTERDPD, OpKind::kScatter, 4, 8},
    {ZYDIS_MNEMONIC_VPSCATTERQD, OpKind::kScatter, 8, 4},
    {ZYDIS_MNEMONIC_VSCATTERQPS, OpKind::kScatter, 8, 4},
    {ZYDIS_MNEMONIC_VPSCATTERQQ, OpKind::kScatter, 8, 8},
    {ZYDIS_MNEMONIC_VSCATTERQPD, OpKind::kScatter, 8, 8},
};

bool is_of_avx(const ZydisDecodedInstruction& instruction) {
  return instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX ||
         instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
}

// A register that stands for two of these is an invalid instruction.
bool are_distinct(OpKind kind, const VectorGather& gather) {
  const bool is_vector_mask = gather.mask >= 0;
  if (kind == OpKind::kScatter) return true;
  return gather.data != gather.index &&
         (!is_vector_mask || (gather.mask != gather.data && gather.mask != gather.index));
}

}  // namespace

bool decode_gather(const ZydisDecoded& decoded, MicroOp& op) noexcept {
  const auto& instruction = decoded.instruction;
  const auto* const form = std::find_if(std::begin(kForms), std::end(kForms), [&](const Form& known) {
    return known.mnemonic == instruction.mnemonic;
  });
  if (form == std::end(kForms) || !is_of_avx(instruction)) return false;
  VectorGather& gather = op.gather;
  const std::size_t vector_bytes = instruction.avx.vector_length / 8;
  gather.index_bytes = form->index_bytes;
  gather.element_bytes = form->element_bytes;
  gather.count = static_cast<std::uint8_t>(vector_bytes / std::max(form->index_bytes, form->element_bytes));
  for (const ZydisDecodedOperand& operand : decoded.visible()) {
    if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER) continue;
    const bool is_mask = instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX &&
                         operand.encoding == ZYDIS_OPERAND_ENCODING_NDSNDD;
    if (const std::int8_t mask = mask_of(operand.reg.value); mask >= 0) {
      gather.mask_register = mask;
    } else {
      (is_mask ? gather.mask : gather.data) = vector_of(operand.reg.value);
    }
  }
  const bool is_whole =
      gather.data >= 0 && gather.index >= 0 && (gather.mask >= 0) != (gather.mask_register > 0);
  if (!is_whole || !are_distinct(form->kind, gather)) return false;
  op.kind = form->kind;
  op.operand_bytes = form->element_bytes;
  op.reads_memory = op.writes_memory = false;  // not at one operand: the kind's own
  op.stop = WalkStop::kNone;
  return true;
}

}  // namespace nvmemu
