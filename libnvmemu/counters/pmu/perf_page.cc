// SPDX-License-Identifier: Apache-2.0
#include "counters/pmu/perf_page.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace nvmemu {

#if defined(__x86_64__)

std::uint64_t UserRegisters::counter(std::uint32_t number) noexcept {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  asm volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(number));
  return std::uint64_t{high} << 32 | low;
}

std::uint64_t UserRegisters::time() noexcept { return __rdtsc(); }

#elif defined(__aarch64__)

namespace {

// A counter's number is part of the instruction.
#define NVMEMU_READ_EVENT_COUNTER(n)                          \
  case n:                                                     \
    asm volatile("mrs %0, pmevcntr" #n "_el0" : "=r"(value)); \
    break;

std::uint64_t read_event_counter(std::uint32_t number) noexcept {
  std::uint64_t value = 0;
  switch (number) {
    NVMEMU_READ_EVENT_COUNTER(0)
    NVMEMU_READ_EVENT_COUNTER(1)
    NVMEMU_READ_EVENT_COUNTER(2)
    NVMEMU_READ_EVENT_COUNTER(3)
    NVMEMU_READ_EVENT_COUNTER(4)
    NVMEMU_READ_EVENT_COUNTER(5)
    NVMEMU_READ_EVENT_COUNTER(6)
    NVMEMU_READ_EVENT_COUNTER(7)
    NVMEMU_READ_EVENT_COUNTER(8)
    NVMEMU_READ_EVENT_COUNTER(9)
    NVMEMU_READ_EVENT_COUNTER(10)
    NVMEMU_READ_EVENT_COUNTER(11)
    NVMEMU_READ_EVENT_COUNTER(12)
    NVMEMU_READ_EVENT_COUNTER(13)
    NVMEMU_READ_EVENT_COUNTER(14)
    NVMEMU_READ_EVENT_COUNTER(15)
    NVMEMU_READ_EVENT_COUNTER(16)
    NVMEMU_READ_EVENT_COUNTER(17)
    NVMEMU_READ_EVENT_COUNTER(18)
    NVMEMU_READ_EVENT_COUNTER(19)
    NVMEMU_READ_EVENT_COUNTER(20)
    NVMEMU_READ_EVENT_COUNTER(21)
    NVMEMU_READ_EVENT_COUNTER(22)
    NVMEMU_READ_EVENT_COUNTER(23)
    NVMEMU_READ_EVENT_COUNTER(24)
    NVMEMU_READ_EVENT_COUNTER(25)
    NVMEMU_READ_EVENT_COUNTER(26)
    NVMEMU_READ_EVENT_COUNTER(27)
    NVMEMU_READ_EVENT_COUNTER(28)
    NVMEMU_READ_EVENT_COUNTER(29)
    NVMEMU_READ_EVENT_COUNTER(30)
    default:
      break;
  }
  return value;
}

#undef NVMEMU_READ_EVENT_COUNTER

}  // namespace

// Linux numbers the dedicated cycle counter after the 31 others.
std::uint64_t UserRegisters::counter(std::uint32_t number) noexcept {
  constexpr std::uint32_t kCycleCounter = 31;
  if (number != kCycleCounter) return read_event_counter(number);
  std::uint64_t value = 0;
  asm volatile("mrs %0, pmccntr_el0" : "=r"(value));
  return value;
}

std::uint64_t UserRegisters::time() noexcept {
  std::uint64_t value = 0;
  asm volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(value));
  return value;
}

#endif

}  // namespace nvmemu
