// SPDX-License-Identifier: Apache-2.0
// System calls that touch nothing thread-local, errno included: for code that runs on threads whose thread
// pointer may be anything. Thread- and signal-safe.
#pragma once

#include <cerrno>
#include <concepts>
#include <cstddef>

#include "base/refused_syscalls.h"

namespace nvmemu {

inline long as_word(std::integral auto value) { return static_cast<long>(value); }
inline long as_word(const volatile void* pointer) { return reinterpret_cast<long>(pointer); }
inline long as_word(std::nullptr_t) { return 0; }

// The result, or a negative error number: see is_error().
inline long raw_syscall_words(long number, long a, long b, long c, long d, long e, long f) noexcept {
#if defined(__x86_64__)
  long result = number;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  register long x4 asm("x4") = e;
  register long x5 asm("x5") = f;
  asm volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
#endif
}

// `arguments`: at most six integers and pointers. -EPERM, without a call, for one that is refused here.
template <typename... Arguments>
long raw_syscall(long number, Arguments... arguments) noexcept {
  static_assert(sizeof...(arguments) <= 6);
  if (is_refused_syscall(number)) [[unlikely]]
    return -EPERM;
  const long words[6] = {as_word(arguments)...};
  return raw_syscall_words(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

// Whether that is an error, or the address that mmap() returned.
inline bool is_error(long result) noexcept { return result < 0 && result >= -4095; }

}  // namespace nvmemu
