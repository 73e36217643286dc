// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/code/overlap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

// Loops, none of which is ever run. Names end in what is loaded where.
extern "C" const char nvmemu_test_chases[], nvmemu_test_chase_a[], nvmemu_test_chase_b[];
extern "C" const char nvmemu_test_list_next[], nvmemu_test_list_value[], nvmemu_test_list_table[];
extern "C" const char nvmemu_test_gather_index[], nvmemu_test_gather_value[];
extern "C" const char nvmemu_test_frame_a[], nvmemu_test_frame_b[];
extern "C" const char nvmemu_test_kept_a[], nvmemu_test_kept_b[];
extern "C" const char nvmemu_test_calls_a[], nvmemu_test_forward_a[], nvmemu_test_forward_b[];
extern "C" const char nvmemu_test_straight_a[], nvmemu_test_inner_a[], nvmemu_test_inner_b[];
extern "C" const char nvmemu_test_vector_a[], nvmemu_test_moved_a[], nvmemu_test_lost_a[],
    nvmemu_test_narrow_a[];
extern "C" const char nvmemu_test_frameless_a[], nvmemu_test_frameless_b[];
asm(R"(
  .pushsection .text
  # Two chases that step together.
nvmemu_test_chases:
nvmemu_test_chase_a:
  movq (%rax), %rax
nvmemu_test_chase_b:
  movq 8(%rbx), %rbx
  decq %rcx
  jne nvmemu_test_chases
  ret
  # A list: the value is looked up in a table, while the next node is on its way.
nvmemu_test_list_next:
  movq (%rax), %rdx
nvmemu_test_list_value:
  movl 8(%rax), %esi
nvmemu_test_list_table:
  addq (%rdi,%rsi,8), %r8
  movq %rdx, %rax
  testq %rax, %rax
  jne nvmemu_test_list_next
  ret
  # Indices come from a stream that waits for nothing.
nvmemu_test_gather_index:
  movl (%rdi,%rcx,4), %eax
nvmemu_test_gather_value:
  vaddsd (%rsi,%rax,8), %xmm0, %xmm0
  incq %rcx
  cmpq %rdx, %rcx
  jb nvmemu_test_gather_index
  ret
  # As compilers write without optimization: pointers live in the frame.
1:
  movq -8(%rbp), %rax
nvmemu_test_frame_a:
  movq (%rax), %rax
  movq %rax, -8(%rbp)
  movq -16(%rbp), %rax
nvmemu_test_frame_b:
  movq (%rax), %rax
  movq %rax, -16(%rbp)
  jmp 1b
  # Pointers live in an array, where they are not followed.
1:
  movq (%rdi), %rax
nvmemu_test_kept_a:
  movq (%rax), %rax
  movq %rax, (%rdi)
  movq (%rsi), %rbx
nvmemu_test_kept_b:
  movq (%rbx), %rbx
  movq %rbx, (%rsi)
  jmp 1b
nvmemu_test_calls_a:
  movq (%rax), %rax
  movq (%rbx), %rbx
  call 1b
  jmp nvmemu_test_calls_a
  # Branches over code in the loop, and out of it.
nvmemu_test_forward_a:
  movq (%rax), %rax
  testq %rax, %rax
  je 2f
  jmp 3f
2:
  ret
3:
nvmemu_test_forward_b:
  movq (%rbx), %rbx
  jmp nvmemu_test_forward_a
nvmemu_test_straight_a:
  movq (%rax), %rax
  movq (%rbx), %rbx
  ret
  # An inner loop after the load.
nvmemu_test_inner_a:
  movq (%rax), %rax
4:
nvmemu_test_inner_b:
  movq (%rbx), %rbx
  decq %rcx
  jne 4b
  jmp nvmemu_test_inner_a
  # A pointer that lives in a vector register, for want of others.
1:
  movq %xmm3, %rax
nvmemu_test_vector_a:
  movq (%rax), %xmm3
  jmp 1b
  # Without a frame pointer %rbp is a register as others are; another pointer is kept in the frame.
1:
  movq 16(%rsp), %rax
nvmemu_test_frameless_a:
  movq (%rax), %rax
  movq %rax, 16(%rsp)
nvmemu_test_frameless_b:
  movq 8(%rbp), %rbp
  jmp 1b
  # What is read is not where it goes on: it is moved on,
nvmemu_test_moved_a:
  movq (%rax), %rdx
  leaq 8(%rdx), %rax
  jmp nvmemu_test_moved_a
  # its copy is overwritten with what another load reads,
nvmemu_test_lost_a:
  movq (%rax), %rdx
  movq %rdx, %rbx
  movq (%rdx), %rbx
  movq %rbx, %rax
  jmp nvmemu_test_lost_a
  # or half of it is kept.
nvmemu_test_narrow_a:
  movq (%rax), %rdx
  movl %edx, %eax
  jmp nvmemu_test_narrow_a
  .popsection
)");

namespace nvmemu {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::uintptr_t at(const char* code) { return reinterpret_cast<std::uintptr_t>(code); }

std::vector<std::uintptr_t> beside(const char* load) {
  const IndependentLoads found = independent_loads(at(load));
  return {found.addresses.begin(), found.addresses.begin() + static_cast<std::ptrdiff_t>(found.count)};
}

TEST(IndependentLoads, AreChasesThatStepTogether) {
  EXPECT_THAT(beside(nvmemu_test_chase_a), ElementsAre(at(nvmemu_test_chase_b)));
  EXPECT_THAT(beside(nvmemu_test_chase_b), ElementsAre(at(nvmemu_test_chase_a)));
}

TEST(IndependentLoads, AreNotThoseOfOneList) {
  EXPECT_THAT(beside(nvmemu_test_list_next), IsEmpty())
      << "the others have their address from its last round";
  EXPECT_THAT(beside(nvmemu_test_list_value), IsEmpty());
}

TEST(IndependentLoads, AreNotAnIndexAndWhatItNames) {
  EXPECT_THAT(beside(nvmemu_test_gather_value), IsEmpty());
  EXPECT_THAT(beside(nvmemu_test_gather_index), IsEmpty());
}

TEST(IndependentLoads, AreFoundThroughTheFrame) {
  EXPECT_THAT(beside(nvmemu_test_frame_a), ElementsAre(at(nvmemu_test_frame_b)));
  EXPECT_THAT(beside(nvmemu_test_frame_b), ElementsAre(at(nvmemu_test_frame_a)));
}

TEST(IndependentLoads, AreFoundWhereThereIsNoFramePointer) {
  EXPECT_THAT(beside(nvmemu_test_frameless_a), ElementsAre(at(nvmemu_test_frameless_b)));
  EXPECT_THAT(beside(nvmemu_test_frameless_b), ElementsAre(at(nvmemu_test_frameless_a)));
  EXPECT_TRUE(independent_loads(at(nvmemu_test_frameless_a)).is_link);
  EXPECT_TRUE(independent_loads(at(nvmemu_test_frameless_b)).is_link);
}

TEST(IndependentLoads, AreNoneWhereValuesCannotBeFollowed) {
  EXPECT_THAT(beside(nvmemu_test_kept_a), IsEmpty());
  EXPECT_THAT(beside(nvmemu_test_kept_b), IsEmpty());
  EXPECT_THAT(beside(nvmemu_test_calls_a), IsEmpty());
}

TEST(IndependentLoads, AreFoundAcrossBranches) {
  EXPECT_THAT(beside(nvmemu_test_forward_a), ElementsAre(at(nvmemu_test_forward_b)));
}

TEST(IndependentLoads, AreOfTheInnermostLoopThatHoldsTheLoad) {
  EXPECT_THAT(beside(nvmemu_test_straight_a), IsEmpty());
  EXPECT_THAT(beside(nvmemu_test_inner_b), IsEmpty());
  EXPECT_THAT(beside(nvmemu_test_inner_a), ElementsAre(at(nvmemu_test_inner_b)));
}

TEST(IndependentLoads, AreAtMostFifteen) {
  std::string code("\x48\x8b\x00", 3);  // mov (%rax), %rax
  for (char at = 0; at < 20; ++at)
    code += {'\x48', '\x8b', '\x4b', static_cast<char>(8 * at % 128)};  // (%rbx), %rcx
  code += "\xeb";
  code += static_cast<char>(-static_cast<int>(code.size()) - 1);
  EXPECT_EQ(independent_loads(at(code.data())).count, 15);
}

TEST(IndependentLoads, TellWhatTheyAreAboutToRead) {
  const IndependentLoads found = independent_loads(at(nvmemu_test_chase_a));
  ASSERT_EQ(found.told_count, 1);
  EXPECT_EQ(found.told[0].base, kRbx);
  EXPECT_EQ(found.told[0].displacement, 8);
  EXPECT_EQ(independent_loads(at(nvmemu_test_frame_a)).told_count, 0) << "its register is loaded in between";
}

TEST(IndependentLoads, TellAChainByItsCode) {
  for (const char* load :
       {nvmemu_test_chase_a, nvmemu_test_chase_b, nvmemu_test_list_next, nvmemu_test_list_value,
        nvmemu_test_list_table, nvmemu_test_frame_a, nvmemu_test_forward_a, nvmemu_test_inner_b})
    EXPECT_TRUE(independent_loads(at(load)).is_chained) << load - nvmemu_test_chases;
  for (const char* load : {nvmemu_test_gather_index, nvmemu_test_gather_value, nvmemu_test_kept_a,
                           nvmemu_test_calls_a, nvmemu_test_straight_a})
    EXPECT_FALSE(independent_loads(at(load)).is_chained) << load - nvmemu_test_chases;
}

TEST(IndependentLoads, TellALinkThatReadsItsOwnNextAddress) {
  for (const char* load :
       {nvmemu_test_chase_a, nvmemu_test_chase_b, nvmemu_test_forward_a, nvmemu_test_inner_a,
        nvmemu_test_inner_b, nvmemu_test_list_next, nvmemu_test_frame_a, nvmemu_test_vector_a})
    EXPECT_TRUE(independent_loads(at(load)).is_link) << load - nvmemu_test_chases;
  for (const char* load :
       {nvmemu_test_list_value, nvmemu_test_gather_index, nvmemu_test_gather_value, nvmemu_test_kept_a,
        nvmemu_test_straight_a, nvmemu_test_moved_a, nvmemu_test_lost_a, nvmemu_test_narrow_a})
    EXPECT_FALSE(independent_loads(at(load)).is_link) << load - nvmemu_test_chases;
}

TEST(IndependentLoads, AreNoneInWhatIsNoLoop) {
  std::string code(4096, '\x90');  // nop
  EXPECT_THAT(beside(code.data()), IsEmpty());
  std::fill(code.begin(), code.end(), '\x06');  // no instruction in 64-bit mode
  EXPECT_THAT(beside(code.data()), IsEmpty());
}

// The jump back straddles two pages.
TEST(IndependentLoads, AreFoundAcrossPages) {
  constexpr std::size_t kPage = 4096;
  auto* pages = static_cast<char*>(
      mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  const std::string code = "\x48\x8b\x1b\x48\x8b\x36\xeb\xf8";  // mov (%rbx), %rbx; mov (%rsi), %rsi; jmp
  char* start = pages + kPage - code.size() + 1;
  std::copy(code.begin(), code.end(), start);
  EXPECT_THAT(beside(start), ElementsAre(at(start + 3)));
  munmap(pages, 2 * kPage);
}

}  // namespace
}  // namespace nvmemu
