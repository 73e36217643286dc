// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "base/raw_syscall.h"
#include "base/read_file.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#include <x86intrin.h>
#define NVMEMU_HAS_TSC 1
#endif

namespace nvmemu {
namespace {

constexpr double kTicksPerSecondOfMonotonic = 1e9;

std::uint64_t read_clock_ns(clockid_t id) noexcept {
  timespec now{};
  clock_gettime(id, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

// A system call either way, which is none of the C library's: those may be looked at (preload/paging/).
std::uint64_t read_cpu_clock_ns(clockid_t id) noexcept {
  timespec now{};
  if (raw_syscall(SYS_clock_gettime, id, &now) != 0) return 0;
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

#ifdef NVMEMU_HAS_TSC

constexpr std::uint64_t kCalibrationNs = 5'000'000;

std::uint64_t read_tsc() noexcept { return __rdtsc(); }

bool processor_says_invariant() noexcept {
  constexpr unsigned kPowerManagementLeaf = 0x80000007U;
  constexpr unsigned kInvariantTsc = 1U << 8;
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid(kPowerManagementLeaf, &eax, &ebx, &ecx, &edx) != 0 && (edx & kInvariantTsc) != 0;
}

// The same instant on both clocks. The reading of the kernel's lies somewhere within the bracket of two
// readings of the TSC, so the smallest bracket is the best: an interrupt or a preempted virtual CPU widens
// the others.
struct Instant {
  std::uint64_t ticks;
  std::uint64_t ns;
};

Instant read_both() noexcept {
  constexpr int kReadings = 32;
  Instant best{};
  std::uint64_t smallest = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i < kReadings; ++i) {
    const std::uint64_t before = read_tsc();
    const std::uint64_t ns = monotonic_raw_ns();
    const std::uint64_t bracket = read_tsc() - before;
    if (bracket < smallest) {
      smallest = bracket;
      best = {before + bracket / 2, ns};
    }
  }
  return best;
}

double measure_tsc_hz() noexcept {
  const Instant start = read_both();
  while (monotonic_raw_ns() - start.ns < kCalibrationNs) _mm_pause();
  const Instant end = read_both();
  return static_cast<double>(end.ticks - start.ticks) * 1e9 / static_cast<double>(end.ns - start.ns);
}

#else

std::uint64_t read_tsc() noexcept { return monotonic_raw_ns(); }
bool processor_says_invariant() noexcept { return false; }
double measure_tsc_hz() noexcept { return kTicksPerSecondOfMonotonic; }

#endif

}  // namespace

bool clock_source_rests_on_tsc(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 3> kRestOnTsc{"tsc", "kvm-clock", "hyperv_clocksource_tsc_page"};
  if (!name.empty() && name.back() == '\n') name.remove_suffix(1);
  return std::find(kRestOnTsc.begin(), kRestOnTsc.end(), name) != kRestOnTsc.end();
}

bool tsc_is_invariant() {
  if (!processor_says_invariant()) return false;
  return clock_source_rests_on_tsc(
      read_text_or_nothing("/sys/devices/system/clocksource/clocksource0/current_clocksource"));
}

Clock Clock::monotonic() { return {false, 1e9 / kTicksPerSecondOfMonotonic}; }

Clock Clock::calibrate(double known_hz) {
  if (!tsc_is_invariant()) return monotonic();
  const double hz = std::isfinite(known_hz) && known_hz > 0 ? known_hz : measure_tsc_hz();
  return {true, 1e9 / hz};
}

// No fence: out of order, the TSC is read some tens of nanoseconds early or late, and nothing that is timed
// with this clock (an epoch, an injection) is so short that it matters. What times a single load fences by
// itself.
std::uint64_t Clock::now_ticks() const noexcept { return uses_tsc_ ? read_tsc() : monotonic_raw_ns(); }

std::uint64_t Clock::to_ticks(double ns) const noexcept {
  const double ticks = ns / ns_per_tick_;
  if (!(ticks > 0)) return 0;
  constexpr double kBeyond = 18446744073709551616.0;  // 2^64
  return ticks < kBeyond ? static_cast<std::uint64_t>(ticks) : std::numeric_limits<std::uint64_t>::max();
}

std::uint64_t monotonic_raw_ns() noexcept { return read_clock_ns(CLOCK_MONOTONIC_RAW); }
std::uint64_t thread_cpu_ns() noexcept { return read_cpu_clock_ns(CLOCK_THREAD_CPUTIME_ID); }

std::uint64_t thread_cpu_ns_of(int tid) noexcept {
  constexpr unsigned kOfOneThread = 4;  // include/linux/posix-timers.h: CPUCLOCK_PERTHREAD_MASK,
  constexpr unsigned kRunning = 2;      // and CPUCLOCK_SCHED
  const auto clock = static_cast<clockid_t>((~static_cast<unsigned>(tid) << 3) | kOfOneThread | kRunning);
  return read_cpu_clock_ns(clock);
}

}  // namespace nvmemu
