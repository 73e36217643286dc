// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/code/guarded_read.h"

#include "base/page_bytes.h"

extern "C" const char nvmemu_guarded_end[];
extern "C" const char nvmemu_guarded_faulted[];
#if defined(__x86_64__)
asm(R"(
  .text
  .p2align 6
  .type nvmemu_touch, @function
  .hidden nvmemu_touch
  .hidden nvmemu_read_pointer
  .hidden nvmemu_guarded_end
  .hidden nvmemu_guarded_faulted
  .globl nvmemu_touch
  .globl nvmemu_read_pointer
  .globl nvmemu_guarded_end
  .globl nvmemu_guarded_faulted
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
asm(R"(
  .text
  .p2align 6
  .type nvmemu_touch, %function
  .hidden nvmemu_touch
  .hidden nvmemu_read_pointer
  .hidden nvmemu_guarded_end
  .hidden nvmemu_guarded_faulted
  .globl nvmemu_touch
  .globl nvmemu_read_pointer
  .globl nvmemu_guarded_end
  .globl nvmemu_guarded_faulted
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
  return {reinterpret_cast<std::uintptr_t>(&nvmemu_touch),
          reinterpret_cast<std::uintptr_t>(nvmemu_guarded_end),
          reinterpret_cast<std::uintptr_t>(nvmemu_guarded_faulted)};
}

bool is_readable(std::uintptr_t begin, std::uintptr_t end) noexcept {
  for (std::uintptr_t at = begin; at < end; at = (at & ~(kPageBytes - 1)) + kPageBytes) {
    if (nvmemu_touch(reinterpret_cast<const void*>(at)) == kFaulted) return false;
  }
  return true;
}

}  // namespace nvmemu
