// SPDX-License-Identifier: Apache-2.0
#include "signal_entry.h"

#if defined(__x86_64__)
asm(R"(
  .text
  .p2align 4
  .hidden nvmemu_signal_entry
  .globl nvmemu_signal_entry
  .type nvmemu_signal_entry, @function
nvmemu_signal_entry:
  .cfi_startproc
  endbr64
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  pushq %rdx
  .cfi_adjust_cfa_offset 8
  call nvmemu_handle_signal
  popq %rdx
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
  testq %rax, %rax
  je 1f
  movq %rax, %r11
  xorl %eax, %eax
  jmp *%r11
1:
  ret
  .cfi_endproc
  .size nvmemu_signal_entry, .-nvmemu_signal_entry
)");
#elif defined(__aarch64__)
asm(R"(
  .text
  .p2align 4
  .hidden nvmemu_signal_entry
  .globl nvmemu_signal_entry
  .type nvmemu_signal_entry, %function
nvmemu_signal_entry:
  .cfi_startproc
  stp x29, x30, [sp, #-48]!
  .cfi_def_cfa_offset 48
  .cfi_offset x29, -48
  .cfi_offset x30, -40
  mov x29, sp
  stp x0, x1, [sp, #16]
  str x2, [sp, #32]
  bl nvmemu_handle_signal
  mov x16, x0
  ldp x0, x1, [sp, #16]
  ldr x2, [sp, #32]
  ldp x29, x30, [sp], #48
  .cfi_def_cfa_offset 0
  cbz x16, 1f
  br x16
1:
  ret
  .cfi_endproc
  .size nvmemu_signal_entry, .-nvmemu_signal_entry
)");
#endif
