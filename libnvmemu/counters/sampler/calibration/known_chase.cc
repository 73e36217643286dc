// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/calibration/known_chase.h"

// What stands around a function of which a load ends at NAME_loaded. Neither name leaves the object that it
// is linked into.
// clang-format off
#define NVMEMU_BEGIN(name)                               \
  ".text\n"                                              \
  ".p2align 4\n"                                         \
  ".type " name ", %function\n"                          \
  ".hidden " name ", " name "_loaded\n"                  \
  ".globl " name ", " name "_loaded\n"                   \
  name ":\n"                                             \
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
nvmemu_known_chase_loaded:
  subq $1, %rsi
  jne 1b
)" NVMEMU_END("nvmemu_known_chase"));

#elif defined(__aarch64__)
asm(NVMEMU_BEGIN("nvmemu_known_chase") R"(
1:
  ldr x0, [x0]
nvmemu_known_chase_loaded:
  subs x1, x1, #1
  b.ne 1b
)" NVMEMU_END("nvmemu_known_chase"));
#endif
