// SPDX-License-Identifier: Apache-2.0
#include "workloads/chase.h"

#include <emmintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace nvmemu::workloads {
namespace {

// x86-64 has 15 registers to spare, and 16 chains with their counter need more. A chain on the stack would
// add a store and a load to each of its steps; so those beyond the first few live in vector registers.
constexpr unsigned kPlainChains = 13;
constexpr unsigned kPlainChainsBesideWork = 10;

__m128i to_vector(const Line* line) { return _mm_cvtsi64_si128(reinterpret_cast<long long>(line)); }
const Line* to_line(__m128i vector) { return reinterpret_cast<const Line*>(_mm_cvtsi128_si64(vector)); }

struct VectorChain {
  __m128i at;

  // One load into a vector register. In assembly, since a compiler that sees the value used as an address may
  // load it into a general register, find none free, and spill.
  void step() {
    __m128i next;
    asm volatile("movq (%1), %0" : "=x"(next) : "r"(to_line(at)) : "memory");
    at = next;
  }
};

template <unsigned kChains, Work::Kind kKind>
[[gnu::noinline]] void walk(ChaseState& state, std::uint64_t steps, std::uint32_t work) noexcept {
  constexpr unsigned kPlain =
      std::min(kChains, kKind == Work::Kind::kNone ? kPlainChains : kPlainChainsBesideWork);
  constexpr unsigned kVector = kChains - kPlain;
  std::array<const Line*, kPlain> plain;
  std::array<VectorChain, kVector> vector;
#pragma GCC unroll 16
  for (unsigned i = 0; i < kPlain; ++i) plain[i] = state.at[i];
#pragma GCC unroll 16
  for (unsigned i = 0; i < kVector; ++i) vector[i].at = to_vector(state.at[kPlain + i]);
  std::uint64_t worked = state.worked;
  std::uint64_t none = 0;  // as the compiler and the processor do not know: what is added of it waits for it
  asm("" : "+r"(none));
  double divided = state.divided;

  for (; steps > 0; --steps) {
#pragma GCC unroll 16
    for (unsigned i = 0; i < kPlain; ++i) plain[i] = plain[i]->next;
#pragma GCC unroll 16
    for (unsigned i = 0; i < kVector; ++i) vector[i].step();
    // The empty assembly keeps one operation after another: not several folded into one.
    if constexpr (kKind == Work::Kind::kBetweenLoads)
      worked += reinterpret_cast<std::uintptr_t>(plain[0]) & none;
    if constexpr (kKind == Work::Kind::kMultiplications || kKind == Work::Kind::kBetweenLoads) {
      for (std::uint32_t left = work; left > 0; --left) {
        worked = worked * 0x5851f42d + 1;
        asm("" : "+r"(worked));
      }
    }
    if constexpr (kKind == Work::Kind::kBetweenLoads)
      plain[0] = reinterpret_cast<const Line*>(reinterpret_cast<std::uintptr_t>(plain[0]) + (worked & none));
    if constexpr (kKind == Work::Kind::kDivisions) {
      for (std::uint32_t left = work; left > 0; --left) {
        divided = 3.141592653589793 / divided;
        asm("" : "+x"(divided));
      }
    }
  }

#pragma GCC unroll 16
  for (unsigned i = 0; i < kPlain; ++i) state.at[i] = plain[i];
#pragma GCC unroll 16
  for (unsigned i = 0; i < kVector; ++i) state.at[kPlain + i] = to_line(vector[i].at);
  state.worked = worked;
  state.divided = divided;
}

using Walk = void (*)(ChaseState&, std::uint64_t, std::uint32_t) noexcept;

template <Work::Kind kKind, unsigned... kIndex>
constexpr std::array<Walk, kMaxChains> walks(std::integer_sequence<unsigned, kIndex...>) {
  return {&walk<kIndex + 1, kKind>...};
}

template <Work::Kind kKind>
constexpr auto kWalks = walks<kKind>(std::make_integer_sequence<unsigned, kMaxChains>());

Walk walk_of(Work::Kind kind, std::size_t chains) {
  switch (kind) {
    case Work::Kind::kMultiplications:
      return kWalks<Work::Kind::kMultiplications>[chains - 1];
    case Work::Kind::kDivisions:
      return kWalks<Work::Kind::kDivisions>[chains - 1];
    case Work::Kind::kBetweenLoads:
      return &walk<1, Work::Kind::kBetweenLoads>;
    case Work::Kind::kNone:
      break;
  }
  return kWalks<Work::Kind::kNone>[chains - 1];
}

}  // namespace

void chase(ChaseState& state, std::uint64_t steps, Work work) noexcept {
  walk_of(work.kind, state.at.size())(state, steps, work.operations);
}

std::uint64_t checksum(const LineCycle& cycle, const ChaseState& state) {
  std::uint64_t sum = state.worked ^ std::bit_cast<std::uint64_t>(state.divided);
  for (const Line* line : state.at) sum = sum * 0x9e3779b97f4a7c15 + cycle.index_of(line);
  return sum;
}

}  // namespace nvmemu::workloads
