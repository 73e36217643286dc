// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/code/instruction.h"

#include <gtest/gtest.h>

#include <vector>

namespace nvmemu {
namespace {

struct Case {
  const char* text;
  std::vector<std::uint8_t> code;
  StallKind kind;
  bool probeable;
  bool falls_through;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.text; }

class DecodeInstruction : public testing::TestWithParam<Case> {};

TEST_P(DecodeInstruction, TellsKindAndWhetherItCanBeProbed) {
  const Case& c = GetParam();
  const auto instruction = decode_instruction(c.code.data(), c.code.size());
  ASSERT_TRUE(instruction);
  EXPECT_EQ(instruction->length, c.code.size());
  EXPECT_EQ(instruction->kind, c.kind);
  EXPECT_EQ(instruction->probeable, c.probeable);
  EXPECT_EQ(instruction->falls_through, c.falls_through);
}

// Encodings as GNU as writes them.
INSTANTIATE_TEST_SUITE_P(
    Kinds, DecodeInstruction,
    testing::Values(
        Case{"mov (%rax),%rax", {0x48, 0x8b, 0x00}, StallKind::kLoad, true, true},
        Case{"mov %rax,(%rbx)", {0x48, 0x89, 0x03}, StallKind::kStore, false, true},
        Case{"add (%rdi),%rax", {0x48, 0x03, 0x07}, StallKind::kLoad, true, true},
        Case{"add %rax,(%rdi)", {0x48, 0x01, 0x07}, StallKind::kLoad, true, true},
        Case{"cmp %rdx,(%rax)", {0x48, 0x39, 0x10}, StallKind::kLoad, true, true},
        Case{
            "addsd 8(%rdi,%rcx,8),%xmm0", {0xf2, 0x0f, 0x58, 0x44, 0xcf, 0x08}, StallKind::kLoad, true, true},
        Case{"lock xadd %rax,(%rdi)", {0xf0, 0x48, 0x0f, 0xc1, 0x07}, StallKind::kLocked, true, true},
        Case{"xchg %rax,(%rdi)", {0x48, 0x87, 0x07}, StallKind::kLocked, true, true},
        Case{"lea 8(%rax),%rbx", {0x48, 0x8d, 0x58, 0x08}, StallKind::kOther, false, true},
        Case{"prefetcht0 (%rax)", {0x0f, 0x18, 0x08}, StallKind::kOther, false, true},
        Case{"nopw (%rax)", {0x66, 0x0f, 0x1f, 0x00}, StallKind::kOther, false, true},
        Case{"clwb (%rax)", {0x66, 0x0f, 0xae, 0x30}, StallKind::kPersist, false, true},
        Case{"clflushopt (%rax)", {0x66, 0x0f, 0xae, 0x38}, StallKind::kPersist, false, true},
        Case{"clflush (%rax)", {0x0f, 0xae, 0x38}, StallKind::kPersist, false, true},
        Case{"sfence", {0x0f, 0xae, 0xf8}, StallKind::kPersist, false, true},
        Case{"mfence", {0x0f, 0xae, 0xf0}, StallKind::kPersist, false, true},
        Case{"movnti %rax,(%rdi)", {0x48, 0x0f, 0xc3, 0x07}, StallKind::kStore, false, true},
        Case{"imul %rbx,%rax", {0x48, 0x0f, 0xaf, 0xc3}, StallKind::kOther, false, true},
        Case{
            "mov %fs:0x28,%rax", {0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0}, StallKind::kLoad, true, true},
        Case{"mov %gs:0x28,%rax",
             {0x65, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0},
             StallKind::kLoad,
             false,
             true},
        Case{"vpmaskmovd (%rdi),%xmm1,%xmm0", {0xc4, 0xe2, 0x71, 0x8c, 0x07}, StallKind::kLoad, false, true},
        Case{"vmovdqu8 (%rdi),%ymm0{%k1}{z}",
             {0x62, 0xf1, 0x7f, 0xa9, 0x6f, 0x07},
             StallKind::kLoad,
             false,
             true},
        Case{"rep movsb", {0xf3, 0xa4}, StallKind::kOther, false, true},
        Case{"jmp .", {0xeb, 0xfe}, StallKind::kOther, false, false},
        Case{"ret", {0xc3}, StallKind::kOther, false, false},
        Case{"jne .", {0x75, 0xfe}, StallKind::kOther, false, true}));

TEST(DecodeInstruction, RefusesWhatIsNone) {
  const std::uint8_t invalid[] = {0x06};  // push %es: not in 64-bit mode
  EXPECT_FALSE(decode_instruction(invalid, sizeof invalid));
  const std::uint8_t truncated[] = {0x48, 0x8b};
  EXPECT_FALSE(decode_instruction(truncated, sizeof truncated));
  EXPECT_FALSE(decode_instruction(truncated, 0));
}

ucontext_t context_with(std::initializer_list<std::pair<int, greg_t>> registers) {
  ucontext_t context{};
  for (const auto& [index, value] : registers) context.uc_mcontext.gregs[index] = value;
  return context;
}

std::uintptr_t address_of(std::vector<std::uint8_t> code, const ucontext_t& context,
                          std::uintptr_t at = 0x1000) {
  const auto instruction = decode_instruction(code.data(), code.size());
  EXPECT_TRUE(instruction && instruction->probeable);
  return effective_address(instruction->operand, at, instruction->length, context);
}

TEST(EffectiveAddress, AddsBaseIndexTimesScaleAndDisplacement) {
  const auto context = context_with({{REG_RDI, 0x10000}, {REG_RCX, 5}, {REG_R9, 0x20000}, {REG_RBP, 0x500}});
  EXPECT_EQ(address_of({0xf2, 0x0f, 0x58, 0x44, 0xcf, 0x08}, context),
            0x10000u + 5 * 8 + 8);                                                         // 8(%rdi,%rcx,8)
  EXPECT_EQ(address_of({0x49, 0x8b, 0x41, 0xf8}, context), 0x20000u - 8);                  // -8(%r9)
  EXPECT_EQ(address_of({0x48, 0x8b, 0x04, 0xcd, 0x40, 0, 0, 0}, context), 5u * 8 + 0x40);  // 0x40(,%rcx,8)
}

TEST(EffectiveAddress, CountsFromTheNextInstructionWhereItIsRelative) {
  // mov 0x10(%rip),%rax, 7 bytes, at 0x1000
  EXPECT_EQ(address_of({0x48, 0x8b, 0x05, 0x10, 0, 0, 0}, ucontext_t{}), 0x1000u + 7 + 0x10);
}

TEST(EffectiveAddress, OfAThreadLocalVariableIsTheCallingThreads) {
  const auto thread_pointer = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
  const auto context = context_with({{REG_RDX, 0x20}});
  EXPECT_EQ(address_of({0x64, 0x48, 0x8b, 0x42, 0xf8}, context), thread_pointer + 0x20 - 8);  // %fs:-8(%rdx)
}

}  // namespace
}  // namespace nvmemu
