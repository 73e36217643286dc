// SPDX-License-Identifier: Apache-2.0
#include "walk/decode/decode.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace nvmemu {
namespace {

DecodedOp decoded(const std::vector<std::uint8_t>& code, VectorState vectors = VectorState::kAvx512) {
  DecodedOp result;
  EXPECT_TRUE(decode_op(code.data(), code.size(), 0x400000, vectors, result));
  EXPECT_EQ(result.op.length, code.size());
  return result;
}

std::vector<std::uint8_t> rewritten(const DecodedOp& op) {
  return {op.recipe.code.begin(), op.recipe.code.begin() + op.recipe.length};
}

TEST(Decode, TellsWhatALoadsAddressIsMadeOf) {
  const MicroOp op = decoded({0x48, 0x8b, 0x44, 0xd9, 0x10}).op;  // mov 16(%rcx,%rbx,8), %rax
  EXPECT_EQ(op.kind, OpKind::kLoad);
  EXPECT_EQ(op.for_address, general_set(kRcx) | general_set(kRbx));
  EXPECT_EQ(op.for_data, 0u);
  EXPECT_EQ(op.written, general_set(kRax));
  EXPECT_EQ(op.operand.displacement, 16);
  EXPECT_EQ(op.operand.scale, 8);
  EXPECT_TRUE(op.reads_memory);
  EXPECT_FALSE(op.writes_memory);
}

TEST(Decode, KeepsAddressAndDataApart) {
  const MicroOp op = decoded({0x48, 0x03, 0x07}).op;  // add (%rdi), %rax
  EXPECT_EQ(op.kind, OpKind::kNative);
  EXPECT_EQ(op.for_address, general_set(kRdi));
  EXPECT_EQ(op.for_data, general_set(kRax));
  EXPECT_EQ(op.written, general_set(kRax) | kFlagsSet);
}

TEST(Decode, ResolvesAddressesRelativeToTheNextInstruction) {
  const MicroOp op = decoded({0x48, 0x8b, 0x05, 0x10, 0, 0, 0}).op;  // mov 16(%rip), %rax
  EXPECT_EQ(op.operand.displacement, 0x400000 + 7 + 16);
  EXPECT_EQ(op.operand.base, kNoRegister);
}

TEST(Decode, KnowsControlFlow) {
  const MicroOp branch = decoded({0x75, 0xfe}).op;  // jne to itself
  EXPECT_EQ(branch.kind, OpKind::kBranch);
  EXPECT_EQ(branch.constant, 0x400000);
  EXPECT_EQ(branch.condition, 5);
  EXPECT_EQ(decoded({0xe8, 0, 0, 0, 0}).op.kind, OpKind::kCall);
  EXPECT_EQ(decoded({0xc2, 8, 0}).op.constant, 8);                       // ret $8
  EXPECT_TRUE(decoded({0xff, 0x24, 0xc5, 0, 0, 0, 0}).op.reads_memory);  // jmp *(,%rax,8)
}

OpOutline outline(const std::vector<std::uint8_t>& code) {
  return outline_op(code.data(), code.size(), 0x400000);
}

TEST(Decode, OutlinesWhereControlGoes) {
  const OpOutline branch = outline({0x0f, 0x84, 0xfa, 0xff, 0xff, 0xff});  // je to itself
  EXPECT_EQ(branch.length, 6);
  EXPECT_EQ(branch.flow, Flow::kBranch);
  EXPECT_TRUE(branch.has_target);
  EXPECT_EQ(branch.target, 0x400000u);
  EXPECT_EQ(outline({0xe8, 1, 0, 0, 0}).flow, Flow::kCall);
  EXPECT_EQ(outline({0xe8, 1, 0, 0, 0}).target, 0x400006u);
  EXPECT_EQ(outline({0xff, 0xe0}).flow, Flow::kAway);  // jmp *%rax
  EXPECT_FALSE(outline({0xff, 0xe0}).has_target);
  EXPECT_EQ(outline({0x48, 0x01, 0xd8}).flow, Flow::kOn);
  EXPECT_EQ(outline({0x0f, 0x84, 0xfa}).length, 0);
  const MicroOp none = decoded({0xc5, 0xe8, 0x85, 1, 0, 0, 0}).op;  // jknzd, Knights Corner's
  EXPECT_FALSE(none.has_constant);
  EXPECT_EQ(none.kind, OpKind::kStop);
}

TEST(Decode, KnowsWhatIsAdded) {
  const MicroOp constant = decoded({0x48, 0x83, 0xee, 0x80}).op;  // sub $-128, %rsi
  EXPECT_TRUE(constant.is_sum);
  EXPECT_EQ(constant.to, kRsi);
  EXPECT_EQ(constant.constant, 128);
  const MicroOp other = decoded({0x48, 0x01, 0xd8}).op;  // add %rbx, %rax
  EXPECT_TRUE(other.is_sum);
  EXPECT_EQ(other.to, kRax);
  EXPECT_EQ(other.from, kRbx);
  EXPECT_EQ(decoded({0xff, 0xc9}).op.constant, -1);        // dec %ecx
  EXPECT_FALSE(decoded({0x66, 0x01, 0xd8}).op.is_sum);     // add %bx, %ax
  EXPECT_FALSE(decoded({0x48, 0x03, 0x07}).op.is_sum);     // add (%rdi), %rax
  EXPECT_FALSE(decoded({0x48, 0x83, 0x07, 1}).op.is_sum);  // add $1, (%rdi)
  EXPECT_FALSE(decoded({0x48, 0x83, 0xd0, 1}).op.is_sum);  // adc $1, %rax
}

TEST(Decode, KnowsStoresThatPassTheCaches) {
  const DecodedOp word = decoded({0x48, 0x0f, 0xc3, 0x07});  // movnti %rax, (%rdi)
  EXPECT_EQ(word.op.kind, OpKind::kStore);
  EXPECT_TRUE(word.op.is_non_temporal);
  const DecodedOp vector = decoded({0x66, 0x0f, 0xe7, 0x07});  // movntdq %xmm0, (%rdi)
  EXPECT_TRUE(vector.op.is_non_temporal);
  EXPECT_EQ(rewritten(vector), (std::vector<std::uint8_t>{0x66, 0x0f, 0x7f, 0x06}));  // movdqa %xmm0, (%rsi)
}

TEST(Decode, KnowsLocksFencesAndFlushes) {
  EXPECT_TRUE(decoded({0xf0, 0x48, 0xff, 0x07}).op.is_locked);           // lock incq (%rdi)
  EXPECT_TRUE(decoded({0x48, 0x87, 0x07}).op.is_locked);                 // xchg %rax, (%rdi)
  EXPECT_EQ(decoded({0x0f, 0xae, 0xf8}).op.kind, OpKind::kFence);        // sfence
  EXPECT_EQ(decoded({0x0f, 0xae, 0xf0}).op.kind, OpKind::kFence);        // mfence
  EXPECT_EQ(decoded({0x0f, 0xae, 0xe8}).op.kind, OpKind::kNothing);      // lfence: waits for no store
  EXPECT_EQ(decoded({0x66, 0x0f, 0xae, 0x37}).op.kind, OpKind::kFlush);  // clwb (%rdi)
  EXPECT_FALSE(decoded({0x66, 0x0f, 0xae, 0x37}).op.evicts);
  EXPECT_TRUE(decoded({0x66, 0x0f, 0xae, 0x3f}).op.evicts);  // clflushopt (%rdi)
  EXPECT_TRUE(decoded({0x0f, 0xae, 0x3f}).op.evicts);        // clflush (%rdi)
}

TEST(Decode, MovesTheOperandToThePointer) {
  // lock addq $5, %fs:0x123(%r12,%r13,4): the prefixes go, the constant stays.
  const DecodedOp add = decoded({0x64, 0xf0, 0x4b, 0x83, 0x84, 0xac, 0x23, 0x01, 0, 0, 0x05});
  EXPECT_EQ(rewritten(add), (std::vector<std::uint8_t>{0x48, 0x83, 0x06, 0x05}));
  EXPECT_EQ(add.op.operand.segment, Segment::kFs);
  EXPECT_EQ(add.recipe.pointer, kRsi);
  // vpaddd 64(%r8), %ymm9, %ymm1: extension bits are kept inverted.
  const DecodedOp vector = decoded({0xc4, 0xc1, 0x35, 0xfe, 0x48, 0x40});
  EXPECT_EQ(rewritten(vector), (std::vector<std::uint8_t>{0xc4, 0xe1, 0x35, 0xfe, 0x0e}));
  EXPECT_EQ(vector.op.operand_bytes, 32);
}

TEST(Decode, ScalesCompressedDisplacements) {
  // vmovdqu64 64(%rdi), %zmm17, which says 1 in its byte.
  const DecodedOp load = decoded({0x62, 0xe1, 0xfe, 0x48, 0x6f, 0x4f, 0x01});
  EXPECT_EQ(load.op.operand.displacement, 64);
  EXPECT_EQ(load.recipe.vectors_written, 1u << 17);
  EXPECT_EQ(load.recipe.form, VectorForm::kAvx512);
}

TEST(Decode, PointsWithARegisterThatTheInstructionDoesNotUse) {
  const DecodedOp add = decoded({0x48, 0x03, 0x37});  // add (%rdi), %rsi
  EXPECT_NE(add.recipe.pointer, kRsi);
  EXPECT_EQ(add.recipe.general_used >> add.recipe.pointer & 1, 0);
}

TEST(Decode, HasAnotherRegisterForTheStackPointer) {
  const DecodedOp add = decoded({0x48, 0x83, 0xec, 0x20});  // sub $32, %rsp
  EXPECT_GE(add.recipe.stack, 0);
  EXPECT_TRUE(add.recipe.writes_stack_pointer);
  EXPECT_EQ(add.recipe.general_used & 1u << kRsp, 0u);
}

TEST(Decode, DoesNotExecuteWhatTheProcessorLacks) {
  EXPECT_EQ(decoded({0x62, 0xe1, 0xfe, 0x48, 0x6f, 0x4f, 0x01}, VectorState::kAvx).op.kind, OpKind::kStop);
  EXPECT_EQ(decoded({0xc4, 0xc1, 0x35, 0xfe, 0x48, 0x40}, VectorState::kSse).op.kind, OpKind::kStop);
}

TEST(Decode, SaysWhyItStops) {
  EXPECT_EQ(decoded({0x0f, 0x01, 0xd9}).op.stop, WalkStop::kPrivileged);                      // vmmcall
  EXPECT_EQ(decoded({0xc7, 0xf8, 0, 0, 0, 0}).op.stop, WalkStop::kUnsupported);               // xbegin
  EXPECT_EQ(decoded({0xdb, 0xe3}).op.stop, WalkStop::kX87);                                   // fninit
  EXPECT_EQ(decoded({0x62, 0xf2, 0x7d, 0x49, 0xc6, 0x0c, 0x07}).op.stop, WalkStop::kGather);  // vgatherpf0dps
  EXPECT_EQ(decoded({0xfd}).op.stop, WalkStop::kUnsupported);                                 // std
}

TEST(Decode, KnowsWhatABitsPlaceDependsOn) {
  const MicroOp op = decoded({0x48, 0x0f, 0xab, 0x07}).op;  // bts %rax, (%rdi)
  EXPECT_EQ(op.kind, OpKind::kNative);
  EXPECT_EQ(op.bit, kRax);
  EXPECT_EQ(op.for_address, general_set(kRax) | general_set(kRdi));
  EXPECT_EQ(decoded({0x48, 0x0f, 0xba, 0x2f, 0x45}).op.bit, kNoRegister);  // bts $69, (%rdi)
}

TEST(Decode, KnowsWhileWhatAStringIsCompared) {
  const MicroOp op = decoded({0xf3, 0x48, 0xa7}).op;  // repe cmpsq
  EXPECT_EQ(op.kind, OpKind::kCompareStrings);
  EXPECT_TRUE(op.is_repeated);
  EXPECT_EQ(op.width, 8);
  EXPECT_EQ(op.condition, 4);
  EXPECT_EQ(decoded({0xf2, 0xae}).op.condition, 5);         // repne scasb
  EXPECT_FALSE(decoded({0xac}).op.is_repeated);             // lodsb
  EXPECT_EQ(decoded({0xf2, 0xa4}).op.kind, OpKind::kStop);  // repne movsb
  EXPECT_EQ(decoded({0x67, 0xa6}).op.kind, OpKind::kStop);  // cmpsb by 32-bit addresses
}

TEST(Decode, KnowsWhatAGatherDependsOn) {
  const DecodedOp gather =
      decoded({0xc4, 0xe2, 0x75, 0x90, 0x04, 0x97});  // vpgatherdd %ymm1, (%rdi,%ymm2,4), %ymm0
  EXPECT_EQ(gather.op.kind, OpKind::kGather);
  EXPECT_EQ(gather.op.gather.count, 8);
  EXPECT_EQ(gather.op.gather.mask, 1);
  EXPECT_EQ(gather.op.operand.scale, 4);
  EXPECT_EQ(gather.op.for_address, general_set(kRdi) | vector_set(2));
  EXPECT_EQ(gather.op.written, vector_set(0) | vector_set(1));
  // vpscatterqd %ymm3, (%rax,%zmm2,4){%k1}
  const DecodedOp scatter = decoded({0x62, 0xf2, 0x7d, 0x49, 0xa1, 0x1c, 0x90});
  EXPECT_EQ(scatter.op.kind, OpKind::kScatter);
  EXPECT_EQ(scatter.op.gather.count, 8);
  EXPECT_EQ(scatter.op.gather.mask_register, 1);
  EXPECT_EQ(scatter.op.written, mask_set(1));
  EXPECT_EQ(decoded({0x62, 0xf2, 0x7d, 0x49, 0xa1, 0x1c, 0x90}, VectorState::kAvx).op.kind, OpKind::kStop);
}

TEST(Decode, KnowsTheOldFloatingPointUnitsRegisters) {
  EXPECT_TRUE(decoded({0x0f, 0x6f, 0x07}).op.is_old_float);  // movq (%rdi), %mm0
  EXPECT_TRUE(decoded({0xdb, 0x2f}).op.is_old_float);        // fldt (%rdi)
  EXPECT_EQ(decoded({0xdb, 0x2f}).op.operand_bytes, 10);
  EXPECT_TRUE(decoded({0x0f, 0x2a, 0xc1}).op.is_old_float);   // cvtpi2ps %mm1, %xmm0
  EXPECT_FALSE(decoded({0x0f, 0x28, 0xc1}).op.is_old_float);  // movaps %xmm1, %xmm0
}

TEST(Decode, NeedsAllOfAnInstruction) {
  DecodedOp result;
  const std::uint8_t code[] = {0x48, 0x8b, 0x05, 0x10};
  EXPECT_FALSE(decode_op(code, sizeof code, 0, VectorState::kAvx, result));
  EXPECT_FALSE(decode_op(code, 0, 0, VectorState::kAvx, result));
}

}  // namespace
}  // namespace nvmemu
