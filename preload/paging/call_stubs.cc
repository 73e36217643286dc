// SPDX-License-Identifier: Apache-2.0
#include "paging/call_stubs.h"

#include <sys/syscall.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>

#include "base/fibonacci_hash.h"
#include "paging/trapped_call.h"

// nvmemu_call_stub: the program's red zone and nine words lie above the stack pointer (StubFrame): 208 bytes.
// The kernel leaves all registers but rax, rcx and r11 alone, and so do these; those of the arguments are as
// the program had them. A handler of the program's that interrupts the call may throw out of it, or end the
// thread: unwinders find their way.
//
// nvmemu_stack_stub: sigaltstack(2) before the call, which is then made, and looked at, once more.
//
// nvmemu_clone_stubs: 64 of 64 bytes. The new one has another stack, with nothing on it.
//
// nvmemu_sigreturn: the C library's restorer, byte for byte, by which unwinders know a handler's frame.
asm(R"(
  .text
  .p2align 6
  .type nvmemu_call_stub, @function
nvmemu_call_stub:
  .cfi_startproc
  .cfi_def_cfa %rsp, 208
  .cfi_offset %rip, -208
  syscall
  movq $0, 16(%rsp)
  movq 24(%rsp), %rdi
  movq 32(%rsp), %rsi
  movq 40(%rsp), %rdx
  movq 48(%rsp), %r10
  movq 56(%rsp), %r8
  movq 64(%rsp), %r9
  cmpq $-14, %rax
  je 1f
2:
  movq (%rsp), %rcx
  .cfi_register %rip, %rcx
  leaq 208(%rsp), %rsp
  .cfi_def_cfa_offset 0
  jmp *%rcx
1:
  .cfi_def_cfa_offset 208
  .cfi_offset %rip, -208
  cmpb $0, nvmemu_dispatch_selector(%rip)
  je 2b
  movq 8(%rsp), %rax
  movq (%rsp), %rcx
  .cfi_register %rip, %rcx
  leaq 208(%rsp), %rsp
  .cfi_def_cfa_offset 0
  subq $2, %rcx
  jmp *%rcx
  .cfi_endproc
  .size nvmemu_call_stub, .-nvmemu_call_stub

  .p2align 6
nvmemu_stack_stub:
  syscall
  movq (%rsp), %rcx
  movq 8(%rsp), %rax
  movq 16(%rsp), %rdi
  movq 24(%rsp), %rsi
  leaq 208(%rsp), %rsp
  jmp *%rcx

  .p2align 6
nvmemu_clone_stubs:
  .set nvmemu_stub, 0
  .rept 64
  syscall
  testq %rax, %rax
  je 1f
  jmp *nvmemu_clone_returns+8*nvmemu_stub(%rip)
1:
  leaq nvmemu_clone_returns+8*nvmemu_stub(%rip), %rcx
  jmp nvmemu_cloned
  .p2align 6
  .set nvmemu_stub, nvmemu_stub+1
  .endr

nvmemu_cloned:
  pushq %rcx
  pushq %rdi
  pushq %rsi
  pushq %rdx
  pushq %r8
  pushq %r9
  pushq %r10
  pushq %rbp
  movq %rsp, %rbp
  andq $-16, %rsp
  call nvmemu_begin_cloned
  movq %rbp, %rsp
  popq %rbp
  popq %r10
  popq %r9
  popq %r8
  popq %rdx
  popq %rsi
  popq %rdi
  popq %rcx
  xorl %eax, %eax
  jmp *(%rcx)

  .p2align 4
  nop
nvmemu_sigreturn:
  movq $15, %rax
  syscall
)");

#define NVMEMU_OF_ASSEMBLER extern "C" __attribute__((visibility("hidden")))
NVMEMU_OF_ASSEMBLER const char nvmemu_call_stub[];
NVMEMU_OF_ASSEMBLER const char nvmemu_stack_stub[];
NVMEMU_OF_ASSEMBLER const char nvmemu_clone_stubs[];
NVMEMU_OF_ASSEMBLER const char nvmemu_sigreturn[];
extern "C" {
__attribute__((used)) std::atomic<char> nvmemu_dispatch_selector{0};
__attribute__((visibility("hidden"), used)) std::atomic<std::uintptr_t> nvmemu_clone_returns[64];
}

namespace nvmemu::preload {
namespace {

constexpr std::uintptr_t kCallBytes = 2;  // of the instruction

// Below the program's red zone, of 128 bytes; a multiple of 16.
struct StubFrame {
  std::uintptr_t return_to;
  std::uint64_t number;
  std::uint64_t mark;  // until the call has been made
  std::uintptr_t arguments[6];
  std::uint64_t fill;
};
constexpr std::uintptr_t kFrameBytes = 128 + sizeof(StubFrame);
static_assert(kFrameBytes == 208);  // as the stubs have it

// Likewise, of nvmemu_stack_stub.
struct StackStubFrame {
  std::uintptr_t return_to;
  std::uint64_t number;
  std::uintptr_t arguments[2];
};
static_assert(sizeof(StackStubFrame) <= sizeof(StubFrame));

std::uintptr_t address_of(const char* code) noexcept { return reinterpret_cast<std::uintptr_t>(code); }

}  // namespace

std::uintptr_t TrappedCall::frame() const noexcept { return stack_pointer() - kFrameBytes; }

template <typename Frame>
void TrappedCall::go_on_in(std::uintptr_t stub, const Frame& words) noexcept {
  const std::uintptr_t at = frame();
  std::memcpy(reinterpret_cast<void*>(at), &words, sizeof words);
  context_.uc_mcontext.gregs[REG_RSP] = static_cast<greg_t>(at);
  go_on_at(stub);
}

void TrappedCall::make_in_stub() noexcept {
  StubFrame words{.return_to = return_to(),
                  .number = static_cast<std::uint64_t>(number() | kTriedAgain),
                  .mark = 0,
                  .arguments = {},
                  .fill = 0};
  if (thread_ != nullptr) words.mark = thread_->calls.mark(frame() + offsetof(StubFrame, mark));
  std::ranges::copy(given_, words.arguments);
  go_on_in(address_of(nvmemu_call_stub), words);
  context_.uc_mcontext.gregs[REG_RAX] = number();
}

void TrappedCall::take_back(ucontext_t& context) noexcept {
  gregset_t& registers = context.uc_mcontext.gregs;
  if (static_cast<std::uintptr_t>(registers[REG_RIP]) != address_of(nvmemu_call_stub)) return;
  auto& frame = *reinterpret_cast<StubFrame*>(registers[REG_RSP]);
  frame.mark = 0;
  for (int i = 0; i < kMostArguments; ++i) registers[kArguments[i]] = static_cast<greg_t>(frame.arguments[i]);
  registers[REG_RSP] += static_cast<greg_t>(kFrameBytes);
  registers[REG_RIP] = static_cast<greg_t>(frame.return_to - kCallBytes);
}

void TrappedCall::make_again_on(const stack_t& signal_stack) noexcept {
  go_on_in(address_of(nvmemu_stack_stub), StackStubFrame{.return_to = return_to() - kCallBytes,
                                                         .number = static_cast<std::uint64_t>(number()),
                                                         .arguments = {argument(0), argument(1)}});
  context_.uc_mcontext.gregs[REG_RAX] = SYS_sigaltstack;
  set_argument(0, reinterpret_cast<std::uintptr_t>(&signal_stack));
  set_argument(1, 0);
}

// The place in an open hash table that is this one's, which it takes where it has none.
std::uintptr_t clone_stub_for(std::uintptr_t return_to) noexcept {
  constexpr std::size_t kStubs = 64, kStubBytes = 64;
  const std::size_t start = static_cast<std::size_t>(fibonacci_hash(return_to) >> 32) % kStubs;
  for (std::size_t i = 0; i < kStubs; ++i) {
    const std::size_t place = (start + i) % kStubs;
    std::uintptr_t there = nvmemu_clone_returns[place].load(std::memory_order_relaxed);
    if (there == 0 && nvmemu_clone_returns[place].compare_exchange_strong(there, return_to))
      there = return_to;
    if (there == return_to) return address_of(nvmemu_clone_stubs) + place * kStubBytes;
  }
  return 0;
}

std::uintptr_t sigreturn_stub() noexcept { return address_of(nvmemu_sigreturn); }

}  // namespace nvmemu::preload
