// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/known_chase.h"

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
