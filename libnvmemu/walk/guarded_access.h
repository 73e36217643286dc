// SPDX-License-Identifier: Apache-2.0
// How a walk touches what may fault: the program's memory, and stubs. Each place is known, and leave_walk(),
// which the process' handlers of SIGSEGV, SIGBUS, SIGFPE and SIGILL call first, goes on where that place
// says. Without such handlers a fault ends the process. Async-signal-safe.
#pragma once

#include <ucontext.h>

#include <cstdint>

namespace nvmemu {

// Whether the fault was a walk's, which goes on when the handler returns. Touches nothing thread-local.
bool leave_walk(ucontext_t& context) noexcept;

}  // namespace nvmemu

#if defined(__x86_64__)

#include "walk/mappings.h"
#include "walk/registers.h"

// An entry for faults from label 1 on, and before label 2: they go on at label `target`.
#define NVMEMU_FAULTS_TO(target)              \
  ".pushsection nvmemu_walk_faults,\"a\"\n\t" \
  ".balign 4\n\t"                             \
  ".long 1b - .\n\t"                          \
  ".long 2b - .\n\t"                          \
  ".long " target                             \
  " - .\n\t"                                  \
  ".popsection\n\t"

namespace nvmemu {

// What lies in the range is stubs, until it no longer is: faults there are a walk's. False: too many are.
bool add_stubs(const AddressRange& range) noexcept;
void remove_stubs(const AddressRange& range) noexcept;

// Of internal linkage, for functions of a .cc: a fault's entry cannot name code that the linker drops as a
// duplicate. False: it faults.
[[maybe_unused]] static inline bool read_word(std::uintptr_t address, std::uint64_t& value) noexcept {
  std::uint64_t read;
  asm goto("1: movq (%[from]), %[read]\n2:\n\t" NVMEMU_FAULTS_TO("%l[faulted]")
           : [read] "=&r"(read)
           : [from] "r"(address)
           : "memory"
           : faulted);
  value = read;
  return true;
faulted:
  return false;
}

[[maybe_unused]] static inline bool read_byte(std::uintptr_t address, std::uint8_t& value) noexcept {
  std::uint32_t read;
  asm goto("1: movzbl (%[from]), %[read]\n2:\n\t" NVMEMU_FAULTS_TO("%l[faulted]")
           : [read] "=&r"(read)
           : [from] "r"(address)
           : "memory"
           : faulted);
  value = static_cast<std::uint8_t>(read);
  return true;
faulted:
  return false;
}

[[maybe_unused]] static inline bool read_line(std::uintptr_t line, std::uint8_t* to) noexcept {
  asm goto(
      "1: movdqu (%[from]), %%xmm0\n\t"
      "movdqu 16(%[from]), %%xmm1\n\t"
      "movdqu %%xmm0, (%[to])\n\t"
      "movdqu %%xmm1, 16(%[to])\n\t"
      "movdqu 32(%[from]), %%xmm0\n\t"
      "movdqu 48(%[from]), %%xmm1\n\t"
      "movdqu %%xmm0, 32(%[to])\n\t"
      "movdqu %%xmm1, 48(%[to])\n"
      "2:\n\t" NVMEMU_FAULTS_TO("%l[faulted]")
      :
      : [from] "r"(line), [to] "r"(to)
      : "memory", "xmm0", "xmm1"
      : faulted);
  return true;
faulted:
  return false;
}

// TSC ticks of a load between fences, the fences' own included. Nothing in it drains stores, which the
// program's loads do not wait for either.
[[maybe_unused]] static inline bool time_load(std::uintptr_t address, std::uint64_t& ticks) noexcept {
  std::uint64_t start, end;
  asm goto(
      "lfence\n\t"
      "rdtsc\n\t"
      "lfence\n\t"
      "shlq $32, %%rdx\n\t"
      "leaq (%%rax,%%rdx), %[start]\n"
      "1: movzbl (%[from]), %%ecx\n"
      "2:\n\t" NVMEMU_FAULTS_TO("%l[faulted]")
      "lfence\n\t"
      "rdtsc\n\t"
      "shlq $32, %%rdx\n\t"
      "orq %%rdx, %%rax\n\t"
      : [start] "=&r"(start), "=&a"(end)
      : [from] "r"(address)
      : "rcx", "rdx", "cc", "memory"
      : faulted);
  ticks = end - start;
  return true;
faulted:
  return false;
}

// A stub is called with the walk's registers and the operand; 0: it has run; 1: it has faulted. `keeps`:
// whether it leaves %rbx, %rbp and %r12 to %r15 alone.
using Stub = int (*)(WalkRegisters*, void*);
int call_stub(Stub stub, bool keeps, WalkRegisters& registers, void* operand) noexcept;

}  // namespace nvmemu

#endif
