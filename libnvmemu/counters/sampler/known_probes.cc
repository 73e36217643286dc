// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/known_probes.h"

#include <signal.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "counters/sampler/known_chase.h"
#include "counters/sampler/load_table.h"
#include "counters/sampler/sampling_cost.h"

namespace nvmemu {
namespace {

constexpr int kBursts = 80;
constexpr int kNaturalBursts = 200;           // they scatter by a fifth
constexpr std::size_t kLoadsBetween = 40000;  // some 8 ms: the chase forgets the burst, as a program does
constexpr std::size_t kLoadsOfABurst = 128;   // more than it takes

Prober* active_prober = nullptr;

void handle_trap(int, siginfo_t* info, void* context) {
  active_prober->on_trap(*info, *static_cast<const ucontext_t*>(context));
}

}  // namespace

KnownProbes probe_known_chase(const Clock& clock, const ProbeScale& scale, const void* line, BurstKind kind) {
  const auto table = std::make_unique<LoadTable>();
  LoadEntry* load = table->find(reinterpret_cast<std::uintptr_t>(nvmemu_known_chase_loaded));
  if (load == nullptr || !load->instruction.probeable) return {};
  Prober prober(clock, scale);
  active_prober = &prober;
  struct sigaction action {};
  struct sigaction before {};
  action.sa_sigaction = handle_trap;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  if (sigaction(SIGTRAP, &action, &before) != 0) return {};
  SamplingAlone sampling;
  if (kind == BurstKind::kNatural) sampling.start();
  KnownProbes result;
  ProbeSums& sums = result.sums;
  std::vector<double> between_ns;
  const int bursts = kind == BurstKind::kNatural ? kNaturalBursts : kBursts;
  for (int i = 0; i < bursts; ++i) {
    const std::uint64_t start = clock.now_ticks();
    line = nvmemu_known_chase(line, kLoadsBetween);
    between_ns.push_back(clock.ns_since(start) / kLoadsBetween);
    if (prober.arm(load, kind, 0) != 0) break;
    line = nvmemu_known_chase(line, kLoadsOfABurst);
    prober.disarm();
    const Burst burst = prober.take_burst();
    sums.readings += burst.sums.readings;
    sums.from_memory += burst.sums.from_memory;
    sums.total_ns += burst.sums.total_ns;
    sums.memory_ns += burst.sums.memory_ns;
  }
  sigaction(SIGTRAP, &before, nullptr);
  if (!between_ns.empty()) {
    std::nth_element(between_ns.begin(), between_ns.begin() + between_ns.size() / 2, between_ns.end());
    result.chase_ns = between_ns[between_ns.size() / 2];
  }
  return result;
}

}  // namespace nvmemu
