// SPDX-License-Identifier: Apache-2.0
#include "host/core_window.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "host/chase_buffer.h"
#include "host/chase_instructions.h"
#include "host/statistics.h"

namespace nvmemu {
namespace {

#if defined(__x86_64__)

// Instructions between two loads: 16, 32, ... 640.
constexpr std::size_t kStep = 16, kSteps = 40;
constexpr std::size_t kRounds = 3000;  // of a timing, half a millisecond or more
constexpr int kTimings = 5;
// So far behind the one chase the other follows that it finds no line that it has left in a cache.
constexpr std::size_t kApart = 1'000'000;

struct Chases {
  const void *a, *b;
};

// Each instruction between needs nothing, or the load's result.
template <std::size_t kBetween, bool kWaiting>
void both(Chases& chases, std::size_t rounds) noexcept {
  const void *a = chases.a, *b = chases.b;
  std::uint64_t unused = 0;
  const std::uint64_t there = 0;
  for (; rounds > 0; --rounds) {
    if constexpr (kWaiting) {
      asm volatile(
          "mov (%[a]), %[a]\n\t.rept %c[count]\n\tlea (%[a],%[there]), %[unused]\n\t.endr\n\t"
          "mov (%[b]), %[b]\n\t.rept %c[count]\n\tlea (%[b],%[there]), %[unused]\n\t.endr"
          : [a] "+r"(a), [b] "+r"(b), [unused] "=&r"(unused)
          : [there] "r"(there), [count] "i"(kBetween)
          : "memory");
    } else {
      asm volatile(
          "mov (%[a]), %[a]\n\t.rept %c[count]\n\tlea (%[there],%[there]), %[unused]\n\t.endr\n\t"
          "mov (%[b]), %[b]\n\t.rept %c[count]\n\tlea (%[there],%[there]), %[unused]\n\t.endr"
          : [a] "+r"(a), [b] "+r"(b), [unused] "=&r"(unused)
          : [there] "r"(there), [count] "i"(kBetween)
          : "memory");
    }
  }
  chases = {a, b};
}

using Both = void (*)(Chases&, std::size_t) noexcept;

template <bool kWaiting, std::size_t... kIndices>
constexpr std::array<Both, kSteps> table(std::index_sequence<kIndices...>) {
  return {both<kStep*(kIndices + 1), kWaiting>...};
}

double round_ns(const Clock& clock, Both both_loads, Chases& chases) {
  std::vector<double> timings;
  for (int timing = 0; timing < kTimings; ++timing) {
    const std::uint64_t start = clock.now_ticks();
    both_loads(chases, kRounds);
    timings.push_back(clock.ns_since(start) / kRounds);
  }
  return median(timings);
}

// The most instructions between with which the loads still overlap, by halves; 0: with fewest they do not.
double most_between(const Clock& clock, const std::array<Both, kSteps>& sizes, Chases& chases) {
  constexpr double kNoLonger = 1.5;  // overlapped 1, one after the other 2
  const double together_ns = round_ns(clock, sizes.front(), chases);
  std::size_t fits = 0, does_not = kSteps;
  while (does_not - fits > 1) {
    const std::size_t middle = (fits + does_not) / 2;
    (round_ns(clock, sizes[middle], chases) < kNoLonger * together_ns ? fits : does_not) = middle;
  }
  return static_cast<double>(kStep) * (static_cast<double>(fits) + 1.5);
}

// Of all of `lines`, out of the caches before it.
double from_memory_ns(const Clock& clock, std::span<const void* const> lines, bool one_after_the_other) {
  for (const void* line : lines) flush_line(line);
  wait_for_flushes();
  const std::uint64_t start = clock.now_ticks();
  if (one_after_the_other) {
    chase(lines.front(), lines.size());
  } else {
    for (const void* line : lines) load_pointer(line);
  }
  wait_for_loads();
  return clock.ns_since(start);
}

double misses_at_a_time(const Clock& clock, const void* line) {
  constexpr std::size_t kLines = 2048;
  constexpr int kPairs = 15;
  std::vector<const void*> lines;
  for (; lines.size() < kLines; line = load_pointer(line)) lines.push_back(line);
  std::vector<double> ratios;
  for (int pair = 0; pair < kPairs; ++pair)
    ratios.push_back(from_memory_ns(clock, lines, true) / from_memory_ns(clock, lines, false));
  return median(ratios);
}

#endif

}  // namespace

CoreWindow measure_core_window([[maybe_unused]] const Clock& clock, [[maybe_unused]] const void* line) {
#if defined(__x86_64__)
  static constexpr auto kAny = table<false>(std::make_index_sequence<kSteps>());
  static constexpr auto kWaits = table<true>(std::make_index_sequence<kSteps>());
  Chases chases{line, chase(line, kApart)};
  const double instructions = most_between(clock, kAny, chases);
  const double waiting = most_between(clock, kWaits, chases);
  return {.instructions = instructions, .waiting = waiting, .misses = misses_at_a_time(clock, chases.a)};
#else
  return {};
#endif
}

}  // namespace nvmemu
