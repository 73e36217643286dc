// SPDX-License-Identifier: Apache-2.0
// Reads of the program's memory that a fault can leave. They are code whose addresses are known: a SIGSEGV or
// SIGBUS handler that finds its pc in fault_range() sets it to `resume`, and the read returns kFaulted.
// Without such a handler a fault ends the process, as one of the program's own would.
#pragma once

#include <cstdint>

// Reads one byte: 0. Async-signal-safe.
extern "C" std::uint64_t nvmemu_touch(const void* address) noexcept;

// Reads a pointer; kFaulted, which is no valid one, where it cannot be read. Async-signal-safe.
extern "C" std::uint64_t nvmemu_read_pointer(const void* address) noexcept;

namespace nvmemu {

inline constexpr std::uint64_t kFaulted = ~std::uint64_t{0};

struct FaultRange {
  std::uintptr_t begin;
  std::uintptr_t end;
  std::uintptr_t resume;
};
FaultRange fault_range() noexcept;

// Not of addresses that are no ordinary data: the null page, and what is not canonical.
constexpr bool may_read(std::uintptr_t address) noexcept {
  constexpr std::uintptr_t kLowest = 65536;
  constexpr std::uintptr_t kHighest = std::uintptr_t{1} << 56;
  return address >= kLowest && address < kHighest;
}

// Whether every page of [begin, end) can be read now.
bool is_readable(std::uintptr_t begin, std::uintptr_t end) noexcept;

// What lies there, which is to be read once it is known that it can be.
inline const std::uint8_t* code_at(std::uintptr_t address) noexcept {
  return reinterpret_cast<const std::uint8_t*>(address);
}

}  // namespace nvmemu
