// SPDX-License-Identifier: Apache-2.0
// The instructions that a chase is made of, on each processor. Async-signal-safe.
#pragma once

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace nvmemu {

// The address that `line` holds, by a load that the compiler neither drops nor moves.
inline const void* load_pointer(const void* line) noexcept {
  const void* next;
#if defined(__x86_64__)
  asm volatile("mov (%1), %0" : "=r"(next) : "r"(line) : "memory");
#elif defined(__aarch64__)
  asm volatile("ldr %0, [%1]" : "=r"(next) : "r"(line) : "memory");
#endif
  return next;
}

// Nothing that follows starts before the loads so far have ended.
inline void wait_for_loads() noexcept {
#if defined(__x86_64__)
  _mm_lfence();
#elif defined(__aarch64__)
  asm volatile("dsb ld\n\tisb" : : : "memory");
#endif
}

// Throws a line out of every cache. Linux lets programs do so on arm64 (SCTLR_EL1.UCI).
inline void flush_line(const void* line) noexcept {
#if defined(__x86_64__)
  _mm_clflush(line);
#elif defined(__aarch64__)
  asm volatile("dc civac, %0" : : "r"(line) : "memory");
#endif
}

inline void wait_for_flushes() noexcept {
#if defined(__x86_64__)
  _mm_mfence();
#elif defined(__aarch64__)
  asm volatile("dsb sy" : : : "memory");
#endif
}

}  // namespace nvmemu
