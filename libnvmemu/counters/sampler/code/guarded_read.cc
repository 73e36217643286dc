// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/code/guarded_read.h"

extern "C" const char nvmemu_guarded_end[];
extern "C" const char nvmemu_guarded_faulted[];
#if defined(__x86_64__)
asm(R"(
  .text
  .p2align 6
  .type nvmemu_probe_load, @function
  .hidden nvmemu_probe_load
  .hidden nvmemu_touch
  .hidden nvmemu_read_pointer
  .hidden nvmemu_guarded_end
  .hidden nvmemu_guarded_faulted
  .globl nvmemu_probe_load
  .globl nvmemu_touch
  .globl nvmemu_read_pointer
  .globl nvmemu_guarded_end
  .globl nvmemu_guarded_faulted
nvmemu_probe_load:
  testq %rsi, %rsi
  je 1f
  movzbl (%rsi), %ecx
1:
  mfence
  lfence
  rdtsc
  lfence
  shlq $32, %rdx
  orq %rax, %rdx
  movq %rdx, %r8
  movzbl (%rdi), %ecx
  lfence
  rdtsc
  lfence
  shlq $32, %rdx
  orq %rdx, %rax
  subq %r8, %rax
  ret
  .size nvmemu_probe_load, .-nvmemu_probe_load
  .p2align 4
  .type nvmemu_touch, @function
nvmemu_touch:
  movzbl (%rdi), %ecx
  xorl %eax, %eax
  ret
  .size nvmemu_touch, .-nvmemu_touch
  .p2align 4
  .type nvmemu_read_pointer, @function
nvmemu_read_pointer:
  movq (%rdi), %rax
  ret
  .size nvmemu_read_pointer, .-nvmemu_read_pointer
nvmemu_guarded_end:
nvmemu_guarded_faulted:
  movq $-1, %rax
  ret
)");

#elif defined(__aarch64__)
// A timed load that waits for all before it and lets nothing after it begin: dsb and isb, as Arm's manual has
// it for reading CNTVCT_EL0 in order (DDI 0487, D12.1.2).
asm(R"(
  .text
  .p2align 6
  .type nvmemu_probe_load, %function
  .hidden nvmemu_probe_load
  .hidden nvmemu_touch
  .hidden nvmemu_read_pointer
  .hidden nvmemu_guarded_end
  .hidden nvmemu_guarded_faulted
  .globl nvmemu_probe_load
  .globl nvmemu_touch
  .globl nvmemu_read_pointer
  .globl nvmemu_guarded_end
  .globl nvmemu_guarded_faulted
nvmemu_probe_load:
  cbz x1, 1f
  ldrb w2, [x1]
1:
  dsb ish
  isb
  mrs x3, cntvct_el0
  isb
  ldrb w2, [x0]
  dsb ish
  isb
  mrs x0, cntvct_el0
  sub x0, x0, x3
  ret
  .size nvmemu_probe_load, .-nvmemu_probe_load
  .p2align 4
  .type nvmemu_touch, %function
nvmemu_touch:
  ldrb w1, [x0]
  mov x0, #0
  ret
  .size nvmemu_touch, .-nvmemu_touch
  .p2align 4
  .type nvmemu_read_pointer, %function
nvmemu_read_pointer:
  ldr x0, [x0]
  ret
  .size nvmemu_read_pointer, .-nvmemu_read_pointer
nvmemu_guarded_end:
nvmemu_guarded_faulted:
  mov x0, #-1
  ret
)");
#endif

namespace nvmemu {

FaultRange fault_range() noexcept {
  return {reinterpret_cast<std::uintptr_t>(&nvmemu_probe_load),
          reinterpret_cast<std::uintptr_t>(nvmemu_guarded_end),
          reinterpret_cast<std::uintptr_t>(nvmemu_guarded_faulted)};
}

bool is_readable(std::uintptr_t begin, std::uintptr_t end) noexcept {
  constexpr std::uintptr_t kPageBytes = 4096;
  for (std::uintptr_t at = begin; at < end; at = (at & ~(kPageBytes - 1)) + kPageBytes) {
    if (nvmemu_touch(reinterpret_cast<const void*>(at)) == kFaulted) return false;
  }
  return true;
}

}  // namespace nvmemu
