// SPDX-License-Identifier: Apache-2.0
#include "own_stack.h"

#include <sys/syscall.h>

#include <cstdint>

#include "base/raw_syscall.h"

#define NVMEMU_BEGIN_RUN_ON_STACK          \
  ".text\n"                                \
  ".p2align 4\n"                           \
  ".hidden nvmemu_run_on_stack\n"          \
  ".hidden nvmemu_left_stack\n"            \
  ".globl nvmemu_run_on_stack\n"           \
  ".globl nvmemu_left_stack\n"             \
  ".type nvmemu_run_on_stack, %function\n" \
  "nvmemu_run_on_stack:\n"                 \
  ".cfi_startproc\n"
#define NVMEMU_END_RUN_ON_STACK \
  "ret\n"                       \
  ".cfi_endproc\n"              \
  ".size nvmemu_run_on_stack, .-nvmemu_run_on_stack\n"

// Keeps what is the caller's on its stack, calls, and takes it back: from the end of what was called, and
// from nvmemu_left_stack on.
#if defined(__x86_64__)
asm(NVMEMU_BEGIN_RUN_ON_STACK R"(
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  .cfi_offset %rbx, -24
  .cfi_offset %r12, -32
  .cfi_offset %r13, -40
  .cfi_offset %r14, -48
  .cfi_offset %r15, -56
  movq %rsp, (%rcx)
  movq %rdi, %rsp
  movq %rdx, %rdi
  call *%rsi
  movl $1, %eax
  jmp 1f
nvmemu_left_stack:
  xorl %eax, %eax
1:
  leaq -40(%rbp), %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  .cfi_def_cfa %rsp, 8
)" NVMEMU_END_RUN_ON_STACK);
#elif defined(__aarch64__)
asm(NVMEMU_BEGIN_RUN_ON_STACK R"(
  stp x29, x30, [sp, #-160]!
  .cfi_def_cfa_offset 160
  .cfi_offset x29, -160
  .cfi_offset x30, -152
  mov x29, sp
  .cfi_def_cfa_register x29
  stp x19, x20, [sp, #16]
  stp x21, x22, [sp, #32]
  stp x23, x24, [sp, #48]
  stp x25, x26, [sp, #64]
  stp x27, x28, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  str x29, [x3]
  mov sp, x0
  mov x0, x2
  blr x1
  mov w0, #1
  b 1f
nvmemu_left_stack:
  mov w0, #0
1:
  mov sp, x29
  ldp x19, x20, [sp, #16]
  ldp x21, x22, [sp, #32]
  ldp x23, x24, [sp, #48]
  ldp x25, x26, [sp, #64]
  ldp x27, x28, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  ldp x29, x30, [sp], #160
  .cfi_def_cfa sp, 0
)" NVMEMU_END_RUN_ON_STACK);
#endif

namespace nvmemu::preload {

void OwnStack::leave(ucontext_t& context) const noexcept {
  auto& machine = context.uc_mcontext;
  const auto left_at = reinterpret_cast<std::uintptr_t>(left_at_);
  const auto resume = reinterpret_cast<std::uintptr_t>(nvmemu_left_stack);
#if defined(__x86_64__)
  constexpr std::uintptr_t kPushed = 5 * sizeof(std::uintptr_t);  // below the frame pointer
  constexpr greg_t kDirection = 1 << 10;
  machine.gregs[REG_RSP] = static_cast<greg_t>(left_at);
  machine.gregs[REG_RBP] = static_cast<greg_t>(left_at + kPushed);
  machine.gregs[REG_RIP] = static_cast<greg_t>(resume);
  machine.gregs[REG_EFL] &= ~kDirection;
#elif defined(__aarch64__)
  machine.sp = machine.regs[29] = left_at;
  machine.pc = resume;
#endif
}

void OwnStack::put_alternate_away(const void* from) noexcept {
  is_away_ = false;
  if (raw_syscall(SYS_sigaltstack, nullptr, &alternate_) != 0) return;
  const char* const begin = static_cast<const char*>(alternate_.ss_sp);
  if ((alternate_.ss_flags & SS_DISABLE) != 0 || from < begin || from >= begin + alternate_.ss_size) return;
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  is_away_ = raw_syscall(SYS_sigaltstack, &none, nullptr) == 0;
}

void OwnStack::bring_alternate_back() noexcept {
  if (is_away_) raw_syscall(SYS_sigaltstack, &alternate_, nullptr);
  is_away_ = false;
}

}  // namespace nvmemu::preload
