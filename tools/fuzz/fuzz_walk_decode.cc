// SPDX-License-Identifier: Apache-2.0
// Whatever the bytes: what a walk would execute of them is the same instruction, with its operand where the
// pointer leads and nothing else in memory, and its stub fits; a gather's elements are in its registers.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "walk/decode/decode.h"
#include "walk/decode/zydis_decode.h"
#include "walk/decode/zydis_registers.h"
#include "walk/stub.h"

namespace {

using namespace nvmemu;

void require(bool holds) {
  if (!holds) std::abort();
}

void check_operands(const ZydisDecoded& rewritten, const DecodedOp& decoded) {
  for (const ZydisDecodedOperand& operand : rewritten.all()) {
    if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) {
      require(general_of(operand.mem.base) == decoded.recipe.pointer);
      require(operand.mem.index == ZYDIS_REGISTER_NONE && operand.mem.disp.value == 0);
      require(operand.mem.segment != ZYDIS_REGISTER_FS && operand.mem.segment != ZYDIS_REGISTER_GS);
      require(operand.size / 8 == decoded.op.operand_bytes);
    } else if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) {
      require(general_of(operand.reg.value) != kRsp);
    }
  }
}

void check_native(const DecodedOp& decoded) {
  const StubRecipe& recipe = decoded.recipe;
  ZydisDecoded rewritten;
  require(decode(recipe.code.data(), recipe.length, rewritten));
  require(rewritten.instruction.length == recipe.length);
  require(decoded.op.is_non_temporal || rewritten.instruction.mnemonic == decoded.op.mnemonic);
  check_operands(rewritten, decoded);
  std::array<std::uint8_t, kLongestStub> stub;
  require(write_stub(recipe, true, stub.data()) <= stub.size());
}

// All that it indexes is there.
void check_gather(const VectorGather& gather) {
  require(gather.data >= 0 && gather.index >= 0 && (gather.mask >= 0 || gather.mask_register > 0));
  require(gather.count >= 2 && std::size_t{gather.count} * gather.element_bytes <= kVectorBytes);
  require(std::size_t{gather.count} * gather.index_bytes <= kVectorBytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  DecodedOp decoded;
  if (!decode_op(data, size, 0x400000, VectorState::kAvx512, decoded)) return 0;
  require(decoded.op.length >= 1 && decoded.op.length <= size);
  require((decoded.op.kind == OpKind::kStop) == (decoded.op.stop != WalkStop::kNone));
  if (decoded.op.kind == OpKind::kNative) check_native(decoded);
  if (decoded.op.kind == OpKind::kGather || decoded.op.kind == OpKind::kScatter)
    check_gather(decoded.op.gather);
  return 0;
}
