// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/known_probes.h"

#include <signal.h>

#include <memory>
#include <vector>

#include "counters/sampler/known_chase.h"
#include "counters/sampler/load_table.h"
#include "counters/sampler/sampling_cost.h"
#include "host/statistics.h"

namespace nvmemu {
namespace {

constexpr int kCachedBursts = 80;
constexpr int kNaturalBursts = 200;           // of each kind; they scatter by a fifth
constexpr std::size_t kLoadsBetween = 40000;  // some 8 ms: the chase forgets the burst, as a program does
constexpr std::size_t kLoadsOfABurst = 128;   // more than it takes

Prober* active_prober = nullptr;

void handle_trap(int, siginfo_t* info, void* context) {
  active_prober->on_trap(*info, *static_cast<const ucontext_t*>(context));
}

// A stretch of the chase, and the burst after it.
struct Round {
  double ns_per_load = 0;
  ProbeSums sums;
};

// The chase with the probes' handler in place.
class ProbedChase {
 public:
  ProbedChase(const Clock& clock, const void* line) : clock_(clock), line_(line) {
    struct sigaction action {};
    action.sa_sigaction = handle_trap;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    handles_ = sigaction(SIGTRAP, &action, &before_) == 0;
  }
  ~ProbedChase() {
    if (handles_) sigaction(SIGTRAP, &before_, nullptr);
  }
  ProbedChase(const ProbedChase&) = delete;
  ProbedChase& operator=(const ProbedChase&) = delete;

  // Whether there was a burst.
  bool run(Prober& prober, BurstKind kind, Round& round) {
    if (!handles_ || load_ == nullptr || !load_->instruction.probeable) return false;
    const std::uint64_t start = clock_.now_ticks();
    line_ = nvmemu_known_chase(line_, kLoadsBetween);
    round.ns_per_load = clock_.ns_since(start) / kLoadsBetween;
    active_prober = &prober;
    if (prober.arm(load_, kind, 0) != 0) return false;
    line_ = nvmemu_known_chase(line_, kLoadsOfABurst);
    prober.disarm();
    round.sums = prober.take_burst().sums;
    return true;
  }

 private:
  const Clock& clock_;
  const void* line_;
  bool handles_ = false;
  struct sigaction before_ {};
  const std::unique_ptr<LoadTable> table_ = std::make_unique<LoadTable>();
  LoadEntry* const load_ = table_->find(reinterpret_cast<std::uintptr_t>(nvmemu_known_chase_loaded));
};

double mean_miss_ns(const std::vector<Round>& rounds, double longest_ns) {
  double memory_ns = 0;
  double misses = 0;
  for (const Round& round : rounds) {
    if (round.ns_per_load > longest_ns) continue;
    memory_ns += round.sums.memory_ns;
    misses += round.sums.from_memory;
  }
  return misses > 0 ? memory_ns / misses : 0;
}

}  // namespace

ProbeSums probe_cached_chase(const Clock& clock, const ProbeScale& scale, const void* line) {
  ProbedChase chase(clock, line);
  Prober prober(clock, scale);
  ProbeSums all;
  for (int i = 0; i < kCachedBursts; ++i) {
    Round round;
    if (!chase.run(prober, BurstKind::kShare, round)) break;
    all.readings += round.sums.readings;
    all.from_memory += round.sums.from_memory;
  }
  prober.close();
  return all;
}

KnownLatencies probe_chase(const Clock& clock, const ProbeScale& scale, const void* line) {
  ProbedChase chase(clock, line);
  ProbeScale of_load = scale;
  ProbeScale of_next = scale;
  of_load.next_to_natural = 0;
  of_next.next_to_natural = 1;
  Prober load_prober(clock, of_load);
  Prober next_prober(clock, of_next);
  SamplingAlone sampling;
  sampling.start();
  std::vector<Round> load_rounds(kNaturalBursts);
  std::vector<Round> next_rounds(kNaturalBursts);
  std::vector<double> stretches_ns;
  for (int i = 0; i < kNaturalBursts; ++i) {
    if (!chase.run(load_prober, BurstKind::kNatural, load_rounds[i]) ||
        !chase.run(next_prober, BurstKind::kNatural, next_rounds[i]))
      return {};
    stretches_ns.push_back(load_rounds[i].ns_per_load);
    stretches_ns.push_back(next_rounds[i].ns_per_load);
  }
  const double longest_ns = kDisturbed * median(stretches_ns);
  return {mean_miss_ns(load_rounds, longest_ns), mean_miss_ns(next_rounds, longest_ns),
          undisturbed_mean(stretches_ns)};
}

}  // namespace nvmemu
