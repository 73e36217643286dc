// SPDX-License-Identifier: Apache-2.0
#include "thread_pointers.h"

#if defined(__x86_64__)
#include <asm/prctl.h>
#endif
#include <sys/auxv.h>
#include <sys/syscall.h>

#include <cstdint>

#include "atomic_set.h"
#include "base/raw_syscall.h"
#include "counters/sampler/code/guarded_read.h"

namespace nvmemu::preload {
namespace {

AtomicSet<16384> pointers;

#if defined(__x86_64__)

constexpr unsigned long kHasFsgsbase = 1U << 1;  // AT_HWCAP2: the instruction is allowed (Linux 5.9)
bool has_instruction = false;                    // set with the first pointer

bool find_instruction() noexcept { return has_instruction = (getauxval(AT_HWCAP2) & kHasFsgsbase) != 0; }

std::uintptr_t current() noexcept {
  std::uintptr_t pointer = 0;
  if (has_instruction) {
    asm volatile(".byte 0xf3, 0x48, 0x0f, 0xae, 0xc0" : "=a"(pointer));  // rdfsbase %rax
    return pointer;
  }
  raw_syscall(SYS_arch_prctl, ARCH_GET_FS, &pointer);
  return pointer;
}

constexpr std::uintptr_t kGuard = 0x28;  // where compilers look for the stack protector's value

#elif defined(__aarch64__)

bool find_instruction() noexcept { return true; }

std::uintptr_t current() noexcept {
  std::uintptr_t pointer = 0;
  asm volatile("mrs %0, tpidr_el0" : "=r"(pointer));
  return pointer;
}

constexpr std::uintptr_t kGuard = 0;  // it is a global there; what the pointer points to is the C library's

#endif

}  // namespace

bool add_thread_pointer() noexcept {
  find_instruction();
  return pointers.add(current());
}

void remove_thread_pointer() noexcept { pointers.remove(current()); }

bool reads_thread_pointer_itself() noexcept { return find_instruction(); }

bool has_known_thread_pointer() noexcept { return pointers.contains(current()); }

bool has_readable_thread_pointer() noexcept {
  const std::uintptr_t pointer = current();
  return pointer != 0 && is_readable(pointer + kGuard, pointer + kGuard + sizeof pointer);
}

}  // namespace nvmemu::preload
