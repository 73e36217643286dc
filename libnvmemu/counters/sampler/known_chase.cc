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

  .p2align 4
  .type nvmemu_known_chases, @function
  .hidden nvmemu_known_chases
  .hidden nvmemu_known_chases_loaded
  .globl nvmemu_known_chases
  .globl nvmemu_known_chases_loaded
nvmemu_known_chases:
  .cfi_startproc
  movq (%rdi), %rax
  movq 8(%rdi), %rcx
  movq 16(%rdi), %rdx
  movq 24(%rdi), %r8
1:
  movq (%rax), %rax
nvmemu_known_chases_loaded:
  movq (%rcx), %rcx
  movq (%rdx), %rdx
  movq (%r8), %r8
  subq $1, %rsi
  jne 1b
  movq %rax, (%rdi)
  movq %rcx, 8(%rdi)
  movq %rdx, 16(%rdi)
  movq %r8, 24(%rdi)
  ret
  .cfi_endproc
  .size nvmemu_known_chases, .-nvmemu_known_chases
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

  .p2align 4
  .type nvmemu_known_chases, %function
  .hidden nvmemu_known_chases
  .hidden nvmemu_known_chases_loaded
  .globl nvmemu_known_chases
  .globl nvmemu_known_chases_loaded
nvmemu_known_chases:
  .cfi_startproc
  ldp x2, x3, [x0]
  ldp x4, x5, [x0, 16]
1:
  ldr x2, [x2]
nvmemu_known_chases_loaded:
  ldr x3, [x3]
  ldr x4, [x4]
  ldr x5, [x5]
  subs x1, x1, #1
  b.ne 1b
  stp x2, x3, [x0]
  stp x4, x5, [x0, 16]
  ret
  .cfi_endproc
  .size nvmemu_known_chases, .-nvmemu_known_chases
)");
#endif
