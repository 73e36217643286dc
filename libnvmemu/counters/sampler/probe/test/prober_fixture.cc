// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/probe/test/prober_fixture.h"

asm(R"(
  .text
  .p2align 4
  .type nvmemu_test_read, @function
  .globl nvmemu_test_read
  .globl nvmemu_test_load_end
nvmemu_test_read:
  .cfi_startproc
  movq (%rdi), %rax
nvmemu_test_load_end:
  ret
  .cfi_endproc
  .size nvmemu_test_read, .-nvmemu_test_read
)");
