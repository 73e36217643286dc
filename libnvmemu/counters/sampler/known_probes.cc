// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/known_probes.h"

#include <signal.h>

#include <memory>

#include "counters/sampler/known_chase.h"
#include "counters/sampler/load_table.h"

namespace nvmemu {
namespace {

constexpr int kBursts = 80;
constexpr std::size_t kLoadsBetween = 8000;  // some 1.5 ms: the chase forgets the burst
constexpr std::size_t kLoadsOfABurst = 128;  // more than it takes

Prober* active_prober = nullptr;

void handle_trap(int, siginfo_t* info, void* context) {
  active_prober->on_trap(*info, *static_cast<const ucontext_t*>(context));
}

}  // namespace

ProbeSums probe_known_chase(const Clock& clock, const ProbeScale& scale, const void* line, BurstKind kind) {
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
  ProbeSums sums;
  for (int i = 0; i < kBursts; ++i) {
    line = nvmemu_known_chase(line, kLoadsBetween);
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
  return sums;
}

}  // namespace nvmemu
