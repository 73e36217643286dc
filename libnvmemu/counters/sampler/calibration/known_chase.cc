// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/calibration/known_chase.h"

// What stands around a function, and names a place in one. No name leaves the object that it is linked into.
// clang-format off
#define NVMEMU_LABEL(name)                               \
  ".hidden " name "\n"                                   \
  ".globl " name "\n"                                    \
  name ":\n"
#define NVMEMU_BEGIN(name)                               \
  ".text\n"                                              \
  ".p2align 4\n"                                         \
  ".type " name ", %function\n"                          \
  NVMEMU_LABEL(name)                                     \
  ".cfi_startproc\n"
#define NVMEMU_END(name)                                 \
  "ret\n"                                                \
  ".cfi_endproc\n"                                       \
  ".size " name ", .-" name "\n"
// clang-format on

#if defined(__x86_64__)
asm(NVMEMU_BEGIN("nvmemu_known_chase") R"(
  movq %rdi, %rax
1:
  movq (%rax), %rax
)" NVMEMU_LABEL("nvmemu_known_chase_loaded") R"(
  subq $1, %rsi
  jne 1b
)" NVMEMU_END("nvmemu_known_chase"));

#define NVMEMU_CHAINS(each)                                                                                \
  each("rax", "0") each("rbx", "8") each("rcx", "16") each("rdx", "24") each("rbp", "32") each("r8", "40") \
      each("r9", "48") each("r10", "56") each("r11", "64") each("r12", "72") each("r13", "80")             \
          each("r14", "88")
#define NVMEMU_TAKE(chain, at) "movq " at "(%rdi), %" chain "\n"
#define NVMEMU_STEP(chain, at) "movq (%" chain "), %" chain "\n"
#define NVMEMU_LEAVE(chain, at) "movq %" chain ", " at "(%rdi)\n"
asm(NVMEMU_BEGIN("nvmemu_known_chases") R"(
  pushq %rbx
  pushq %rbp
  pushq %r12
  pushq %r13
  pushq %r14
)" NVMEMU_CHAINS(NVMEMU_TAKE) "1:\n" NVMEMU_CHAINS(NVMEMU_STEP) R"(
  subq $1, %rsi
  jne 1b
)" NVMEMU_CHAINS(NVMEMU_LEAVE) R"(
  popq %r14
  popq %r13
  popq %r12
  popq %rbp
  popq %rbx
)" NVMEMU_END("nvmemu_known_chases"));

#elif defined(__aarch64__)
asm(NVMEMU_BEGIN("nvmemu_known_chase") R"(
1:
  ldr x0, [x0]
)" NVMEMU_LABEL("nvmemu_known_chase_loaded") R"(
  subs x1, x1, #1
  b.ne 1b
)" NVMEMU_END("nvmemu_known_chase"));
#endif
