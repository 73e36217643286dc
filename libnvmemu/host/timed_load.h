// SPDX-License-Identifier: Apache-2.0
// One load, timed between fences.
#pragma once

#include <cstdint>

namespace nvmemu {

#if defined(__x86_64__)

// TSC ticks that loading the byte at `address` takes, the fences' and readings' own included (see
// Calibration::timing_overhead_ns). mfence lets earlier stores and flushes drain; each lfence keeps what
// follows from starting before what precedes is done (Intel SDM volume 2B, LFENCE; AMD the same with LFENCE
// made serializing, which Linux does). Async-signal-safe; faults where the address does.
inline std::uint64_t timed_load_ticks(const void* address) noexcept {
  std::uint64_t ticks;
  std::uint64_t start;
  asm volatile(
      "mfence\n\t"
      "lfence\n\t"
      "rdtsc\n\t"
      "lfence\n\t"
      "shl $32, %%rdx\n\t"
      "or %%rdx, %%rax\n\t"
      "mov %%rax, %[start]\n\t"
      "movzbl (%[address]), %%ecx\n\t"
      "lfence\n\t"
      "rdtsc\n\t"
      "shl $32, %%rdx\n\t"
      "or %%rdx, %%rax\n\t"
      "sub %[start], %%rax"
      : [ticks] "=&a"(ticks), [start] "=&r"(start)
      : [address] "r"(address)
      : "rcx", "rdx", "cc", "memory");
  return ticks;
}

#elif defined(__aarch64__)

// Ticks of CNTVCT_EL0, which are tens of ns on many machines: too coarse for one load. Likewise.
inline std::uint64_t timed_load_ticks(const void* address) noexcept {
  std::uint64_t start;
  std::uint64_t end;
  asm volatile(
      "dsb ish\n\tisb\n\t"
      "mrs %[start], cntvct_el0\n\tisb\n\t"
      "ldrb %w[end], [%[address]]\n\t"
      "dsb ish\n\tisb\n\t"
      "mrs %[end], cntvct_el0"
      : [start] "=&r"(start), [end] "=&r"(end)
      : [address] "r"(address)
      : "memory");
  return end - start;
}

#endif

}  // namespace nvmemu
