// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/code/code_lookup.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

#include "counters/sampler/code/stall_kind.h"

// A function with known instructions: offsets 0, 3, 7, 10, 12.
extern "C" const char nvmemu_test_function[];
asm(R"(
  .text
  .p2align 4
  .type nvmemu_test_function, @function
  .globl nvmemu_test_function
nvmemu_test_function:
  .cfi_startproc
  movq (%rdi), %rax
  addq $64, %rdi
  decq %rsi
  jne nvmemu_test_function
  ret
  .cfi_endproc
  .size nvmemu_test_function, .-nvmemu_test_function
)");

// A loop whose compare with memory is fused with the jump after it; the same without memory; and a compare
// that is left by a jump forward.
extern "C" const char nvmemu_test_fused[], nvmemu_test_fused_head[], nvmemu_test_fused_compare[],
    nvmemu_test_fused_after[], nvmemu_test_plain_head[], nvmemu_test_forward_compare[], nvmemu_test_forward[];
asm(R"(
  .text
  .p2align 4
  .type nvmemu_test_fused, @function
nvmemu_test_fused:
  .cfi_startproc
  xorl %eax, %eax
nvmemu_test_fused_head:
  incq %rdi
nvmemu_test_fused_compare:
  cmpq (%rdi), %rdx
  jne nvmemu_test_fused_head
nvmemu_test_fused_after:
  xorl %eax, %eax
nvmemu_test_plain_head:
  incq %rdi
  cmpq %rdi, %rdx
  jne nvmemu_test_plain_head
nvmemu_test_forward_compare:
  testq %rdx, (%rdi)
  je nvmemu_test_forward
  ret
nvmemu_test_forward:
  nop
  ret
  .cfi_endproc
  .size nvmemu_test_fused, .-nvmemu_test_fused
)");

// Loads of which one comes after what cannot wait, and the other after a load; and a store after what cannot.
extern "C" const char nvmemu_test_interrupted[], nvmemu_test_second_load[], nvmemu_test_interrupted_store[];
asm(R"(
  .text
  .p2align 4
  .type nvmemu_test_loads, @function
nvmemu_test_loads:
  .cfi_startproc
  xorl %eax, %eax
nvmemu_test_interrupted:
  movq (%rdi), %rcx
nvmemu_test_second_load:
  movq 8(%rdi), %rdx
  xorl %eax, %eax
nvmemu_test_interrupted_store:
  movq %rax, (%rdi)
  ret
  .cfi_endproc
  .size nvmemu_test_loads, .-nvmemu_test_loads
)");

namespace nvmemu {
namespace {

const auto kFunction = reinterpret_cast<std::uintptr_t>(nvmemu_test_function);

TEST(FunctionStart, IsFoundInTheUnwindTables) {
  for (const int offset : {0, 3, 7, 10, 12})
    EXPECT_EQ(function_start(kFunction + offset), kFunction) << offset;
}

TEST(FunctionStart, IsNothingOutsideLoadedObjects) {
  int on_stack = 0;
  EXPECT_EQ(function_start(reinterpret_cast<std::uintptr_t>(&on_stack)), 0u);
}

TEST(InstructionBefore, FindsTheOneThatEndsThere) {
  const auto before = instruction_before(kFunction + 3);
  ASSERT_TRUE(before);
  EXPECT_EQ(before->address, kFunction);
  EXPECT_EQ(stall_kind(*before), StallKind::kLoad);
  EXPECT_EQ(instruction_before(kFunction + 10)->address, kFunction + 7);
}

TEST(InstructionBefore, IsNothingAtAFunctionsStart) { EXPECT_FALSE(instruction_before(kFunction)); }

TEST(InstructionBefore, IsNothingInTheMiddleOfAnInstructionWithinAKnownFunction) {
  // The walk from the start never arrives there; the vote may find a false one only where most starts agree.
  const auto before = instruction_before(kFunction + 1);
  EXPECT_TRUE(!before || before->address != kFunction);
}

std::uintptr_t address_of(const char* code) { return reinterpret_cast<std::uintptr_t>(code); }

TEST(InstructionWaitedFor, IsTheCompareThatIsOneWithTheJumpBeforeIt) {
  const auto waited = instruction_waited_for(address_of(nvmemu_test_fused_after));
  ASSERT_TRUE(waited);
  EXPECT_EQ(waited->address, address_of(nvmemu_test_fused_compare));
  EXPECT_EQ(stall_kind(*waited), StallKind::kLoad);
}

TEST(InstructionWaitedFor, IsTheCompareThatIsOneWithAJumpBackThere) {
  const auto waited = instruction_waited_for(address_of(nvmemu_test_fused_head));
  ASSERT_TRUE(waited);
  EXPECT_EQ(waited->address, address_of(nvmemu_test_fused_compare));
}

TEST(InstructionWaitedFor, IsTheCompareThatIsOneWithAJumpForwardOverAReturn) {
  const auto waited = instruction_waited_for(address_of(nvmemu_test_forward));
  ASSERT_TRUE(waited);
  EXPECT_EQ(waited->address, address_of(nvmemu_test_forward_compare));
}

TEST(InstructionWaitedFor, IsNoCompareOfRegisters) {
  const auto waited = instruction_waited_for(address_of(nvmemu_test_plain_head));
  ASSERT_TRUE(waited);
  EXPECT_EQ(stall_kind(*waited), StallKind::kOther);
}

TEST(InstructionWaitedFor, IsTheLoadThatWasInterruptedWhereTheOneBeforeCannotWait) {
  const auto waited = instruction_waited_for(address_of(nvmemu_test_interrupted));
  ASSERT_TRUE(waited);
  EXPECT_EQ(waited->address, address_of(nvmemu_test_interrupted));
  EXPECT_EQ(stall_kind(*waited), StallKind::kLoad);
}

TEST(InstructionWaitedFor, IsTheLoadBeforeALoad) {
  const auto waited = instruction_waited_for(address_of(nvmemu_test_second_load));
  ASSERT_TRUE(waited);
  EXPECT_EQ(waited->address, address_of(nvmemu_test_interrupted));
}

TEST(InstructionWaitedFor, IsNoStoreThatWasInterrupted) {
  const auto waited = instruction_waited_for(address_of(nvmemu_test_interrupted_store));
  ASSERT_TRUE(waited);
  EXPECT_EQ(stall_kind(*waited), StallKind::kOther);
}

TEST(InstructionWaitedFor, IsWhatComesBeforeWhereItsRulesAreOff) {
  const auto kind_without = [](Rule rule, const char* code) {
    Rules rules;
    rules.switch_off(rule);
    const auto waited = instruction_waited_for(address_of(code), rules);
    return waited ? stall_kind(*waited) : StallKind::kOther;
  };
  EXPECT_EQ(kind_without(Rule::kFused, nvmemu_test_fused_after), StallKind::kOther);
  EXPECT_EQ(kind_without(Rule::kFused, nvmemu_test_interrupted), StallKind::kLoad);
  EXPECT_EQ(kind_without(Rule::kInterrupted, nvmemu_test_interrupted), StallKind::kOther);
  EXPECT_EQ(kind_without(Rule::kInterrupted, nvmemu_test_fused_after), StallKind::kLoad);
}

TEST(InstructionWaitedFor, IsTheLoadThatBeginsAFunction) {
  EXPECT_EQ(instruction_waited_for(kFunction)->address, kFunction);
}

TEST(InstructionWaitedFor, IsTheLoadThatEndsThere) {
  EXPECT_EQ(instruction_waited_for(kFunction + 3)->address, kFunction);
}

class GeneratedCode : public testing::Test {
 protected:
  void SetUp() override {
    page_ = static_cast<std::uint8_t*>(
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(page_, MAP_FAILED);
    std::memset(page_, 0x90, 4096);  // nop
  }
  void TearDown() override { munmap(page_, 4096); }
  void put(std::size_t offset, std::initializer_list<std::uint8_t> code) {
    std::copy(code.begin(), code.end(), page_ + offset);
  }
  std::uintptr_t at(std::size_t offset) const { return reinterpret_cast<std::uintptr_t>(page_) + offset; }

  std::uint8_t* page_ = nullptr;
};

TEST_F(GeneratedCode, IsReadByMajority) {
  put(100, {0x48, 0x8b, 0x00});  // mov (%rax),%rax
  const auto before = instruction_before(at(103));
  ASSERT_TRUE(before);
  EXPECT_EQ(before->address, at(100));
  EXPECT_EQ(stall_kind(*before), StallKind::kLoad);
}

TEST_F(GeneratedCode, IsNotReadAcrossThePageStart) {
  put(0, {0x48, 0x8b, 0x00});
  EXPECT_FALSE(instruction_before(at(3)));  // too few bytes before it, and none of the page before is touched
}

TEST_F(GeneratedCode, ControlThatNeverFallsThroughGivesNothing) {
  put(200, {0xeb, 0x10});  // jmp: what follows is reached from elsewhere
  EXPECT_FALSE(instruction_before(at(202)));
}

}  // namespace
}  // namespace nvmemu
