// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/code/loop.h"

#include <gtest/gtest.h>

// Loops as compilers and the C library write them; each with a label at an instruction inside.
extern "C" const char nvmemu_loop_copy[], nvmemu_loop_copy_in[], nvmemu_loop_unrolled_in[],
    nvmemu_loop_sparse_in[], nvmemu_loop_chase_in[], nvmemu_loop_update_in[], nvmemu_loop_nontemporal_in[],
    nvmemu_loop_string[], nvmemu_loop_outer_in[], nvmemu_loop_inner_in[], nvmemu_loop_call_in[],
    nvmemu_loop_down_in[], nvmemu_loop_none[];
asm(R"(
  .text
  .p2align 4
nvmemu_loop_copy:
  movups (%rsi,%rax), %xmm0
nvmemu_loop_copy_in:
  movups %xmm0, (%rdi,%rax)
  addq $16, %rax
  cmpq %rax, %rdx
  jne nvmemu_loop_copy
  ret

1: movups (%rsi), %xmm0
nvmemu_loop_unrolled_in:
  addps 16(%rsi), %xmm0
  addps 32(%rsi), %xmm0
  addps 112(%rsi), %xmm0
  subq $-128, %rsi
  cmpq %rsi, %rdx
  ja 1b
  ret

1: addq (%rsi), %rax
nvmemu_loop_sparse_in:
  addq 512(%rsi), %rax
  addq $1024, %rsi
  cmpq %rsi, %rdx
  ja 1b
  ret

1: movq (%rax), %rax
nvmemu_loop_chase_in:
  decq %rdx
  jne 1b
  ret

1: addq %rcx, (%rdi,%rax,8)
nvmemu_loop_update_in:
  incq %rax
  cmpq %rax, %rdx
  jne 1b
  ret

1: movntdq %xmm0, (%rdi)
nvmemu_loop_nontemporal_in:
  leaq 16(%rdi), %rdi
  cmpq %rdi, %rdx
  jne 1b
  ret

nvmemu_loop_string:
  rep movsb
  ret

1: movq (%r8), %rsi
nvmemu_loop_outer_in:
  movq $100, %rdx
2: addq (%rsi,%rdx,8), %rax
nvmemu_loop_inner_in:
  decq %rdx
  jne 2b
  addq $8, %r8
  cmpq %r8, %r9
  jne 1b
  ret

1: movq (%rdi), %rax
nvmemu_loop_call_in:
  call nvmemu_loop_none
  addq (%rbx), %rax
  addq $8, %rbx
  addq $8, %rdi
  cmpq %rbx, %rbp
  jne 1b
  ret

1: movb $0, -1(%rdi)
nvmemu_loop_down_in:
  subq $1, %rdi
  cmpq %rdi, %rdx
  jne 1b
  ret

nvmemu_loop_none:
  movq (%rdi), %rax
  ret
  .fill 4200, 1, 0xcc
)");

namespace nvmemu {
namespace {

Loop around(const char* code) {
  const auto loop = loop_around(reinterpret_cast<std::uintptr_t>(code));
  EXPECT_TRUE(loop);
  return loop.value_or(Loop{});
}

TEST(LoopAround, FindsWhatACopyReadsAndWrites) {
  const Loop loop = around(nvmemu_loop_copy_in);
  EXPECT_EQ(loop.begin, reinterpret_cast<std::uintptr_t>(nvmemu_loop_copy));
  ASSERT_EQ(loop.stream_count, 2);
  EXPECT_TRUE(loop.streams[0].reads && !loop.streams[0].writes);
  EXPECT_TRUE(loop.streams[1].writes && !loop.streams[1].reads && !loop.streams[1].whole_lines);
  EXPECT_EQ(loop.streams[0].step, 16);
  EXPECT_EQ(loop.streams[0].touched, 1);
  EXPECT_EQ(around(nvmemu_loop_copy).begin, loop.begin) << "its first instruction is in it, too";
}

TEST(LoopAround, TakesAnUnrolledLoopsAccessesForOneStream) {
  const Loop loop = around(nvmemu_loop_unrolled_in);
  ASSERT_EQ(loop.stream_count, 1);
  EXPECT_EQ(loop.streams[0].step, 128);
  EXPECT_EQ(loop.streams[0].touched, 1);
}

TEST(LoopAround, CountsOnlyTheLinesThatAWideStepTouches) {
  const Loop loop = around(nvmemu_loop_sparse_in);
  ASSERT_EQ(loop.stream_count, 1);
  EXPECT_EQ(loop.streams[0].step, 1024);
  EXPECT_DOUBLE_EQ(loop.streams[0].touched, 2 * 64 / 1024.0);
}

TEST(LoopAround, AChaseIsNoStream) {
  const Loop loop = around(nvmemu_loop_chase_in);
  EXPECT_EQ(loop.stream_count, 0);
}

TEST(LoopAround, AnUpdateInPlaceReadsAndWritesOneStream) {
  const Loop loop = around(nvmemu_loop_update_in);
  ASSERT_EQ(loop.stream_count, 1);
  EXPECT_TRUE(loop.streams[0].reads && loop.streams[0].writes);
  EXPECT_EQ(loop.streams[0].step, 8);
}

TEST(LoopAround, NonTemporalStoresWriteWholeLines) {
  const Loop loop = around(nvmemu_loop_nontemporal_in);
  ASSERT_EQ(loop.stream_count, 1);
  EXPECT_TRUE(loop.streams[0].whole_lines);
  EXPECT_EQ(loop.streams[0].step, 16);
}

TEST(LoopAround, ARepeatedStringInstructionIsALoop) {
  const Loop loop = around(nvmemu_loop_string);
  EXPECT_EQ(loop.end - loop.begin, 2u);
  ASSERT_EQ(loop.stream_count, 2);
  const Stream& written = loop.streams[loop.streams[0].writes ? 0 : 1];
  const Stream& read = loop.streams[loop.streams[0].writes ? 1 : 0];
  EXPECT_EQ(written.operand.base, kRdi);
  EXPECT_TRUE(written.whole_lines);
  EXPECT_EQ(read.operand.base, kRsi);
  EXPECT_TRUE(read.reads && !read.writes);
}

TEST(LoopAround, IsTheInnermost) {
  const Loop inner = around(nvmemu_loop_inner_in);
  const Loop outer = around(nvmemu_loop_outer_in);
  EXPECT_LT(outer.begin, inner.begin);
  EXPECT_GT(outer.end, inner.end);
  ASSERT_EQ(inner.stream_count, 1);
  EXPECT_EQ(inner.streams[0].step, -8);
}

TEST(LoopAround, KnowsNothingOfRegistersThatACallMayChange) {
  const Loop loop = around(nvmemu_loop_call_in);
  ASSERT_EQ(loop.stream_count, 1);
  EXPECT_EQ(loop.streams[0].operand.base, kRbx);
}

TEST(LoopAround, FollowsALoopDownwards) {
  const Loop loop = around(nvmemu_loop_down_in);
  ASSERT_EQ(loop.stream_count, 1);
  EXPECT_EQ(loop.streams[0].step, -1);
  EXPECT_TRUE(loop.streams[0].writes);
}

TEST(LoopAround, IsNothingWhereNoBranchLeadsBack) {
  EXPECT_FALSE(loop_around(reinterpret_cast<std::uintptr_t>(nvmemu_loop_none)));
}

TEST(OffsetInSegment, AddsBaseAndScaledIndex) {
  const Loop loop = around(nvmemu_loop_update_in);
  GeneralRegisters registers{};
  registers[kRdi] = 0x10000;
  registers[kRax] = 5;
  EXPECT_EQ(offset_in_segment(loop.streams[0].operand, registers), 0x10000u + 40);
}

}  // namespace
}  // namespace nvmemu
