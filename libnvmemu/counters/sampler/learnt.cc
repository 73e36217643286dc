// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/learnt.h"

#include <sys/mman.h>

#include <new>

namespace nvmemu {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

}  // namespace

Learnt* Learnt::create() noexcept {
  void* memory = mmap(nullptr, sizeof(Learnt), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : new (memory) Learnt();
}

SharePool Learnt::pool() const noexcept {
  return {bursts.load(kRelaxed), burst_share_sum.load(kRelaxed), burst_square_sum.load(kRelaxed), disturbed,
          disturbed_hit_ns};
}

void Learnt::learn(const Burst& burst) noexcept {
  if (burst.sums.readings == 0) return;
  for (const std::uintptr_t miss : burst.missed()) burst.load->cold_lines.add(miss);
  if (burst.kind == BurstKind::kNatural) {
    if (GapWeights::is_steady(burst.since_gap_ms)) burst.load->add_natural(burst.sums);
    gaps.add(burst.since_gap_ms, burst.sums, burst.load->usual(gaps.steady_ns()));
    return;
  }
  burst.load->add(burst.sums, burst.is_long);
  const double share = burst_share(burst.sums);
  bursts.fetch_add(1, kRelaxed);
  burst_share_sum.fetch_add(share, kRelaxed);
  burst_square_sum.fetch_add(share * share, kRelaxed);
}

}  // namespace nvmemu
