// SPDX-License-Identifier: Apache-2.0
// Makes what has been stored durable: each line flushed, then a fence. Thread-safe, async-signal-safe.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace nvmemu {

inline constexpr std::size_t kCacheLineBytes = 64;

// How many lines hold these bytes; 0 of none.
inline std::uint64_t lines_of(const void* address, std::size_t bytes) noexcept {
  if (bytes == 0) return 0;
  const auto first = reinterpret_cast<std::uintptr_t>(address);
  return (first + bytes - 1) / kCacheLineBytes - first / kCacheLineBytes + 1;
}

// Writes lines back and keeps them, throws them out without order, or one after the other.
enum class LineFlush : std::uint8_t { kWriteBack, kUnordered, kOrdered };

#if defined(__x86_64__)

inline bool can_persist() noexcept { return true; }

inline LineFlush find_line_flush() noexcept {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kClwb = 1U << 24, kClflushopt = 1U << 23;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return LineFlush::kOrdered;
  return (b & kClwb) != 0         ? LineFlush::kWriteBack
         : (b & kClflushopt) != 0 ? LineFlush::kUnordered
                                  : LineFlush::kOrdered;
}

inline void flush_lines(const void* address, std::size_t bytes, LineFlush flush) noexcept {
  const auto first = reinterpret_cast<std::uintptr_t>(address) & ~(std::uintptr_t{kCacheLineBytes} - 1);
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(address) + bytes;
  for (std::uintptr_t line = first; line < end; line += kCacheLineBytes) {
    auto* const at = reinterpret_cast<volatile char*>(line);
    switch (flush) {
      case LineFlush::kWriteBack:
        asm volatile(".byte 0x66; xsaveopt %0" : "+m"(*at));  // clwb, which old assemblers do not know
        break;
      case LineFlush::kUnordered:
        asm volatile(".byte 0x66; clflush %0" : "+m"(*at));  // clflushopt
        break;
      case LineFlush::kOrdered:
        asm volatile("clflush %0" : "+m"(*at));
        break;
    }
  }
}

// By the first of these that the processor has.
inline void flush_lines(const void* address, std::size_t bytes) noexcept {
  static const LineFlush flush = find_line_flush();
  flush_lines(address, bytes, flush);
}

inline void fence_stores() noexcept { asm volatile("sfence" : : : "memory"); }

inline void persist_lines(const void* address, std::size_t bytes) noexcept {
  flush_lines(address, bytes);
  fence_stores();
}

// A whole line of that value, which goes past the caches: durable behind a fence.
inline void store_past_caches(void* line, std::uint64_t value) noexcept {
  auto* const words = static_cast<volatile std::uint64_t*>(line);
  for (std::size_t i = 0; i < kCacheLineBytes / sizeof value; ++i)
    asm volatile("movnti %1, %0" : "=m"(words[i]) : "r"(value));
}

#else

inline bool can_persist() noexcept { return false; }
inline LineFlush find_line_flush() noexcept { return LineFlush::kOrdered; }
inline void flush_lines(const void*, std::size_t, LineFlush) noexcept {}
inline void fence_stores() noexcept { __sync_synchronize(); }
inline void store_past_caches(void* line, std::uint64_t value) noexcept {
  *static_cast<volatile std::uint64_t*>(line) = value;
}
inline void flush_lines(const void*, std::size_t) noexcept {}
inline void persist_lines(const void*, std::size_t) noexcept { __sync_synchronize(); }

#endif

}  // namespace nvmemu
