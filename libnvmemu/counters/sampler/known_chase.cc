// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/known_chase.h"

#if defined(__x86_64__)
asm(R"(
  .text
  .p2align 4
  .type nvmemu_known_chase, @function
  .hidden nvmemu_known_chase
  .hidden nvmemu_known_chase_loaded
  .globl nvmemu_known_chase
  .globl nvmemu_known_chase_loaded
nvmemu_known_chase:
  .cfi_startproc
  movq %rdi, %rax
1:
  movq (%rax), %rax
nvmemu_known_chase_loaded:
  subq $1, %rsi
  jne 1b
  ret
  .cfi_endproc
  .size nvmemu_known_chase, .-nvmemu_known_chase
)");

#elif defined(__aarch64__)
asm(R"(
  .text
  .p2align 4
  .type nvmemu_known_chase, %function
  .hidden nvmemu_known_chase
  .hidden nvmemu_known_chase_loaded
  .globl nvmemu_known_chase
  .globl nvmemu_known_chase_loaded
nvmemu_known_chase:
  .cfi_startproc
1:
  ldr x0, [x0]
nvmemu_known_chase_loaded:
  subs x1, x1, #1
  b.ne 1b
  ret
  .cfi_endproc
  .size nvmemu_known_chase, .-nvmemu_known_chase
)");
#endif
