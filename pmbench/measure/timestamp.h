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

// Around an access.
struct Stamps {
  Stamp begin, end;
  std::uint64_t ticks() const noexcept { return end.ticks - begin.ticks; }
};

// As the original measured, see below.
struct NoFence {
  static void before() noexcept {}
  static void order() noexcept {}
  static void drain() noexcept {}
};

// A timer of a clock that does not tell the processor, whose reading neither waits for what precedes it nor
// keeps what follows from starting.
template <typename Fence, typename Clock>
struct FencedTimer {
  static constexpr bool kTellsCpu = false;
  static Stamp begin() noexcept {
    Fence::before();
    const Stamp stamp = end();
    Fence::order();
    return stamp;
  }
  static Stamp end() noexcept {
    Fence::order();
    return {Clock::ticks(), 0};
  }
  static void drain() noexcept { Fence::drain(); }
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

struct TimeStampCounter {
  static std::uint64_t ticks() noexcept {
    std::uint64_t low;
    std::uint64_t high;
    asm volatile("rdtsc" : "=a"(low), "=d"(high)::"memory");
    return high << 32 | low;
  }
};
template <typename Fence>
using Rdtsc = FencedTimer<Fence, TimeStampCounter>;

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

struct ArmVirtualCount {
  static std::uint64_t ticks() noexcept {
    std::uint64_t ticks;
    asm volatile("mrs %0, cntvct_el0" : "=r"(ticks)::"memory");
    return ticks;
  }
};
template <typename Fence>
using VirtualCounter = FencedTimer<Fence, ArmVirtualCount>;

#else

struct FullFence {
  static void before() noexcept { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
  static void order() noexcept { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
  static void drain() noexcept { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
};
using LoadFence = FullFence;

#endif

// CLOCK_MONOTONIC_RAW, a tick a nanosecond: everywhere, and through the vDSO, but dearer than the others.
struct MonotonicRawClock {
  static std::uint64_t ticks() noexcept {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
  }
};
template <typename Fence>
using KernelClock = FencedTimer<Fence, MonotonicRawClock>;

// Ticks to whole nanoseconds, rounded, by a multiplication and a shift. Good to 1 in 10^9; up to 2^62 ns.
class TickScale {
 public:
  explicit TickScale(double hz) noexcept
      : multiplier_(static_cast<std::uint64_t>(1e9 / hz * kOne + 0.5)),
        narrow_below_((std::uint64_t{1} << 63) / multiplier_) {}
  std::uint64_t to_ns(std::uint64_t ticks) const noexcept {
    if (ticks < narrow_below_) [[likely]]
      return (ticks * multiplier_ + kHalf) >> kShift;
    return static_cast<std::uint64_t>((static_cast<Wide>(ticks) * multiplier_ + kHalf) >> kShift);
  }

 private:
  __extension__ typedef unsigned __int128 Wide;
  static constexpr unsigned kShift = 32;
  static constexpr double kOne = 4294967296.0;
  static constexpr std::uint64_t kHalf = std::uint64_t{1} << (kShift - 1);
  std::uint64_t multiplier_;
  std::uint64_t narrow_below_;  // where 64 bits hold the product: a second at any rate
};

}  // namespace nvmemu::pmbench
