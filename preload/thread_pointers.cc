// SPDX-License-Identifier: Apache-2.0
#include "thread_pointers.h"

#include <asm/prctl.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nvmemu::preload {
namespace {

constexpr std::size_t kSlots = 16384;
constexpr std::size_t kReach = 64;               // slots searched from where the hash points
constexpr std::uintptr_t kRemoved = 1;           // no pointer, but the search goes on behind it
constexpr unsigned long kHasFsgsbase = 1U << 1;  // AT_HWCAP2: the instruction is allowed (Linux 5.9)

std::atomic<std::uintptr_t> slots[kSlots];
bool has_instruction = false;  // set with the first pointer

std::uintptr_t current() noexcept {
  std::uintptr_t pointer = 0;
  if (has_instruction) {
    asm volatile(".byte 0xf3, 0x48, 0x0f, 0xae, 0xc0" : "=a"(pointer));  // rdfsbase %rax
    return pointer;
  }
  long result = SYS_arch_prctl;  // not by syscall(), which may set errno
  asm volatile("syscall" : "+a"(result) : "D"(ARCH_GET_FS), "S"(&pointer) : "rcx", "r11", "memory");
  return pointer;
}

std::size_t slot_of(std::uintptr_t pointer, std::size_t step) {
  return ((pointer >> 6) * 0x9e3779b97f4a7c15 >> 40) % kSlots + step;
}

// The slot that holds it, or null.
std::atomic<std::uintptr_t>* find(std::uintptr_t pointer) noexcept {
  for (std::size_t step = 0; step < kReach; ++step) {
    std::atomic<std::uintptr_t>& slot = slots[slot_of(pointer, step) % kSlots];
    const std::uintptr_t held = slot.load(std::memory_order_relaxed);
    if (held == pointer) return &slot;
    if (held == 0) return nullptr;
  }
  return nullptr;
}

}  // namespace

bool add_thread_pointer() noexcept {
  has_instruction = (getauxval(AT_HWCAP2) & kHasFsgsbase) != 0;
  const std::uintptr_t pointer = current();
  if (find(pointer) != nullptr) return true;  // in the child of a fork
  for (std::size_t step = 0; step < kReach; ++step) {
    std::atomic<std::uintptr_t>& slot = slots[slot_of(pointer, step) % kSlots];
    std::uintptr_t held = slot.load(std::memory_order_relaxed);
    if (held <= kRemoved && slot.compare_exchange_strong(held, pointer)) return true;
  }
  return false;
}

void remove_thread_pointer() noexcept {
  if (auto* slot = find(current())) slot->store(kRemoved, std::memory_order_relaxed);
}

bool has_known_thread_pointer() noexcept { return find(current()) != nullptr; }

}  // namespace nvmemu::preload
