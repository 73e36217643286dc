// SPDX-License-Identifier: Apache-2.0
// Where a thread's misses went lately, and how a delay keeps those places warm.
//
// A program on slow memory does not stand still: while it waits for one miss, the last ones' translations
// are fresh. A thread that spins for 400 ms touches nothing, and its neighbours evict the page-table entries
// that it walks from the caches they share; what it then waits for longer is the emulation's doing. Measured
// on a 2-vCPU guest: a chase over 512 MiB, 212 ns a load, takes 400 ns a load 1 ms after such a spin, 250
// after 8 ms; not above 220 where the spin prefetches, every 200 ns, a line from somewhere in the set.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace nvmemu {

// Belongs to one thread; async-signal-safe.
class RecentMisses {
 public:
  // An address that the thread has read from memory, or is about to. Any number: it is never dereferenced.
  void add(std::uintptr_t address) noexcept;

  // Somewhere near one of the last addresses, each as likely as it was frequent; 0 before the first.
  std::uintptr_t next() noexcept;

  // Has the processor fetch the line at next(), and with it the translation: into the first-level cache only,
  // so that nothing which the program holds in the others is replaced. A hint, which cannot fault.
  void revisit() noexcept;

 private:
  static constexpr std::size_t kKept = 512;

  std::array<std::uintptr_t, kKept> addresses_{};
  std::size_t added_ = 0;
  std::uint64_t random_ = 0x9E3779B97F4A7C15U;
};

}  // namespace nvmemu
