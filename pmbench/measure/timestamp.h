// SPDX-License-Identifier: Apache-2.0
// Time stamps around one access. A timer is a struct of static functions, and a template parameter of the
// timed loop, so that nothing is called through a pointer between two stamps:
//
//   begin()    what came before is done, and the stamp is taken before what follows starts
//   end()      the stamp is taken when the loads before it are done
//   drain()    between a store and end(): waits until the store is done, as it waits in a buffer otherwise
//   and
//              its miss would not be seen
//
// Stamps carry the processor that they were taken on, where the instruction tells.
#pragma once

#include <time.h>

#include <cstdint>

namespace nvmemu::pmbench {

struct Stamp {
  std::uint64_t ticks;
  std::uint32_t cpu;  // 0 where the timer does not tell
};

#if defined(__x86_64__)

// Which fences. lfence keeps loads and computation in order (Intel SDM volume 2B, LFENCE; AMD the same with
// LFENCE made serializing, which Linux does); mfence drains earlier stores and flushes before each access
// too; none is what the original did: a load's miss is seen, a store's is not.
struct LoadFence {
  static void before() noexcept {}
  static void order() noexcept { asm volatile("lfence" ::: "memory"); }
  static void drain() noexcept { asm volatile("mfence" ::: "memory"); }
};
struct FullFence {
  static void before() noexcept { asm volatile("mfence" ::: "memory"); }
  static void order() noexcept { asm volatile("lfence" ::: "memory"); }
  static void drain() noexcept { asm volatile("mfence" ::: "memory"); }
};
struct NoFence {
  static void before() noexcept {}
  static void order() noexcept {}
  static void drain() noexcept {}
};

// RDTSCP waits for what precedes it; only what follows needs a fence.
template <typename Fence>
struct Rdtscp {
  static constexpr bool kTellsCpu = true;
  static Stamp begin() noexcept {
    Fence::before();
    const Stamp stamp = read();
    Fence::order();
    return stamp;
  }
  static Stamp end() noexcept { return read(); }
  static void drain() noexcept { Fence::drain(); }

 private:
  static Stamp read() noexcept {
    std::uint64_t low;
    std::uint64_t high;
    std::uint32_t cpu;
    asm volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(cpu)::"memory");
    return {high << 32 | low, cpu};
  }
};

template <typename Fence>
struct Rdtsc {
  static constexpr bool kTellsCpu = false;
  static Stamp begin() noexcept {
    Fence::before();
    const Stamp stamp = end();
    Fence::order();
    return stamp;
  }
  static Stamp end() noexcept {
    Fence::order();
    std::uint64_t low;
    std::uint64_t high;
    asm volatile("rdtsc" : "=a"(low), "=d"(high)::"memory");
    return {high << 32 | low, 0};
  }
  static void drain() noexcept { Fence::drain(); }
};

#elif defined(__aarch64__)

// ISB keeps the counter from being read early (Arm ARM D11.2.2), DSB LD waits for loads, DSB ST for stores.
struct LoadFence {
  static void before() noexcept {}
  static void order() noexcept { asm volatile("dsb ld\n\tisb" ::: "memory"); }
  static void drain() noexcept { asm volatile("dsb st" ::: "memory"); }
};
struct FullFence {
  static void before() noexcept { asm volatile("dsb sy" ::: "memory"); }
  static void order() noexcept { asm volatile("dsb sy\n\tisb" ::: "memory"); }
  static void drain() noexcept { asm volatile("dsb sy" ::: "memory"); }
};
struct NoFence {
  static void before() noexcept {}
  static void order() noexcept {}
  static void drain() noexcept {}
};

template <typename Fence>
struct VirtualCounter {
  static constexpr bool kTellsCpu = false;
  static Stamp begin() noexcept {
    Fence::before();
    const Stamp stamp = end();
    Fence::order();
    return stamp;
  }
  static Stamp end() noexcept {
    Fence::order();
    std::uint64_t ticks;
    asm volatile("mrs %0, cntvct_el0" : "=r"(ticks)::"memory");
    return {ticks, 0};
  }
  static void drain() noexcept { Fence::drain(); }
};

#else

struct FullFence {
  static void before() noexcept { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
  static void order() noexcept { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
  static void drain() noexcept { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
};
using LoadFence = FullFence;
struct NoFence {
  static void before() noexcept {}
  static void order() noexcept {}
  static void drain() noexcept {}
};

#endif

// CLOCK_MONOTONIC_RAW, a tick a nanosecond: everywhere, and through the vDSO, but dearer than the others.
template <typename Fence>
struct KernelClock {
  static constexpr bool kTellsCpu = false;
  static Stamp begin() noexcept {
    Fence::before();
    const Stamp stamp = end();
    Fence::order();
    return stamp;
  }
  static Stamp end() noexcept {
    Fence::order();
    timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return {static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec),
            0};
  }
  static void drain() noexcept { Fence::drain(); }
};

// Ticks to whole nanoseconds, rounded, by a multiplication and a shift. Good to 1 in 10^9; up to 2^62 ns.
class TickScale {
 public:
  explicit TickScale(double hz) noexcept : multiplier_(static_cast<std::uint64_t>(1e9 / hz * kOne + 0.5)) {}
  std::uint64_t to_ns(std::uint64_t ticks) const noexcept {
    return static_cast<std::uint64_t>((static_cast<Wide>(ticks) * multiplier_ + kHalf) >> kShift);
  }

 private:
  __extension__ typedef unsigned __int128 Wide;
  static constexpr unsigned kShift = 32;
  static constexpr double kOne = 4294967296.0;
  static constexpr std::uint64_t kHalf = std::uint64_t{1} << (kShift - 1);
  std::uint64_t multiplier_;
};

}  // namespace nvmemu::pmbench
