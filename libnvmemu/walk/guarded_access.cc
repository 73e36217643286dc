// SPDX-License-Identifier: Apache-2.0
#include "walk/guarded_access.h"

#include "walk/untouchable.h"

namespace nvmemu {
namespace {

struct FaultSite {
  std::int32_t begin, end;
  std::int32_t resume;  // each relative to where it is written

  static std::uintptr_t resolve(const std::int32_t& member) {
    return reinterpret_cast<std::uintptr_t>(&member) + static_cast<std::intptr_t>(member);
  }
};

constinit AddressRangeSet stubs{};

}  // namespace

// The linker's names of the section's bounds.
extern "C" {
extern const FaultSite __start_nvmemu_walk_faults[] __attribute__((visibility("hidden")));
extern const FaultSite __stop_nvmemu_walk_faults[] __attribute__((visibility("hidden")));
int nvmemu_walk_call_stub(WalkRegisters*, void*, Stub) noexcept;
extern const char nvmemu_walk_stub_faulted[] __attribute__((visibility("hidden")));
}

// Stubs do not move %rsp, so that one which faults can be left by its own return: the shadow stack agrees.
asm(R"(
  .text
  .p2align 4
  .hidden nvmemu_walk_call_stub
  .globl nvmemu_walk_call_stub
  .type nvmemu_walk_call_stub, @function
nvmemu_walk_call_stub:
  .cfi_startproc
  pushq %rbx
  .cfi_adjust_cfa_offset 8
  pushq %rbp
  .cfi_adjust_cfa_offset 8
  pushq %r12
  .cfi_adjust_cfa_offset 8
  pushq %r13
  .cfi_adjust_cfa_offset 8
  pushq %r14
  .cfi_adjust_cfa_offset 8
  pushq %r15
  .cfi_adjust_cfa_offset 8
  call *%rdx
  popq %r15
  .cfi_adjust_cfa_offset -8
  popq %r14
  .cfi_adjust_cfa_offset -8
  popq %r13
  .cfi_adjust_cfa_offset -8
  popq %r12
  .cfi_adjust_cfa_offset -8
  popq %rbp
  .cfi_adjust_cfa_offset -8
  popq %rbx
  .cfi_adjust_cfa_offset -8
  ret
  .cfi_endproc
  .size nvmemu_walk_call_stub, .-nvmemu_walk_call_stub

  .hidden nvmemu_walk_stub_faulted
  .globl nvmemu_walk_stub_faulted
nvmemu_walk_stub_faulted:
  movl $1, %eax
  ret
)");

int call_stub(Stub stub, bool keeps, WalkRegisters& registers, void* operand) noexcept {
  return keeps ? stub(&registers, operand) : nvmemu_walk_call_stub(&registers, operand, stub);
}

bool add_stubs(const AddressRange& range) noexcept { return stubs.add(range); }
void remove_stubs(const AddressRange& range) noexcept { stubs.remove(range); }

bool leave_walk(ucontext_t& context) noexcept {
  auto& pc = context.uc_mcontext.gregs[REG_RIP];
  const auto at = static_cast<std::uintptr_t>(pc);
  if (stubs.holds(at)) {
    pc = reinterpret_cast<greg_t>(nvmemu_walk_stub_faulted);
    return true;
  }
  for (const FaultSite* site = __start_nvmemu_walk_faults; site != __stop_nvmemu_walk_faults; ++site) {
    if (at < FaultSite::resolve(site->begin) || at >= FaultSite::resolve(site->end)) continue;
    pc = static_cast<greg_t>(FaultSite::resolve(site->resume));
    return true;
  }
  return false;
}

}  // namespace nvmemu
