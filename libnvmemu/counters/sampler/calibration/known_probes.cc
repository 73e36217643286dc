// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/calibration/known_probes.h"

#include <signal.h>

#include <memory>
#include <vector>

#include "counters/sampler/calibration/known_chase.h"
#include "counters/sampler/calibration/sampling_cost.h"
#include "counters/sampler/learned/load_table.h"
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

using Walk = void (*)(const void** lines, std::size_t loads) noexcept;

void walk_one(const void** line, std::size_t loads) noexcept { *line = nvmemu_known_chase(*line, loads); }

// A chase, or several that step together, with the probes' handler in place.
class ProbedChase {
 public:
  ProbedChase(const Clock& clock, const void* line)
      : ProbedChase(clock, {line}, walk_one, nvmemu_known_chase_loaded) {}
  ProbedChase(const Clock& clock, const ChaseLines& lines)
      : ProbedChase(clock, lines, nvmemu_known_chases, nvmemu_known_chases_loaded) {}
  ~ProbedChase() {
    if (handles_) sigaction(SIGTRAP, &before_, nullptr);
  }
  ProbedChase(const ProbedChase&) = delete;
  ProbedChase& operator=(const ProbedChase&) = delete;

  // Whether there was a burst.
  bool run(Prober& prober, BurstKind kind, Round& round) {
    if (!handles_ || load_ == nullptr || !load_->instruction.probeable) return false;
    const std::uint64_t start = clock_.now_ticks();
    walk_(lines_.data(), kLoadsBetween);
    round.ns_per_load = clock_.ns_since(start) / kLoadsBetween;
    active_prober = &prober;
    if (prober.arm(load_, kind, 0) != 0) return false;
    walk_(lines_.data(), kLoadsOfABurst);
    prober.disarm();
    round.sums = prober.take_burst().sums;
    return true;
  }

 private:
  ProbedChase(const Clock& clock, const ChaseLines& lines, Walk walk, const char* loaded)
      : clock_(clock),
        lines_(lines),
        walk_(walk),
        load_(table_->find(reinterpret_cast<std::uintptr_t>(loaded))) {
    struct sigaction action {};
    action.sa_sigaction = handle_trap;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    handles_ = sigaction(SIGTRAP, &action, &before_) == 0;
  }

  const Clock& clock_;
  ChaseLines lines_;
  const Walk walk_;
  bool handles_ = false;
  struct sigaction before_ {};
  const std::unique_ptr<LoadTable> table_ = std::make_unique<LoadTable>();
  LoadEntry* const load_;
};

// The rounds of one kind.
class Rounds {
 public:
  bool add(ProbedChase& chase, Prober& prober) {
    return chase.run(prober, BurstKind::kNatural, rounds_.emplace_back());
  }
  std::vector<double> stretches_ns() const {
    std::vector<double> stretches;
    for (const Round& round : rounds_) stretches.push_back(round.ns_per_load);
    return stretches;
  }
  // Of bursts after stretches of at most so much a load.
  double mean_miss_ns(double longest_ns) const {
    ProbeSums sums;
    for (const Round& round : rounds_) {
      if (round.ns_per_load > longest_ns) continue;
      sums.memory_ns += round.sums.memory_ns;
      sums.from_memory += round.sums.from_memory;
    }
    return sums.from_memory > 0 ? sums.memory_ns / sums.from_memory : 0;
  }

 private:
  std::vector<Round> rounds_;
};

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

// All chases get ahead alike, see places_apart(): so the ones together have two turns in each round too.
KnownLatencies probe_chase(const Clock& clock, const ProbeScale& scale, const ChasePlaces& places) {
  ProbedChase alone(clock, places.alone);
  ProbedChase together(clock, places.together);
  ProbeScale of_load = scale;
  ProbeScale of_next = scale;
  of_load.next_to_natural = 0;
  of_next.next_to_natural = 1;
  Prober load_prober(clock, of_load);
  Prober next_prober(clock, of_next);
  SamplingAlone sampling;
  sampling.start();
  Rounds of_loads;
  Rounds of_nexts;
  Rounds of_several;
  for (int i = 0; i < kNaturalBursts; ++i) {
    if (!of_loads.add(alone, load_prober) || !of_several.add(together, next_prober) ||
        !of_nexts.add(alone, next_prober) || !of_several.add(together, next_prober))
      return {};
  }
  std::vector<double> alone_ns = of_loads.stretches_ns();
  for (const double stretch_ns : of_nexts.stretches_ns()) alone_ns.push_back(stretch_ns);
  const std::vector<double> together_ns = of_several.stretches_ns();
  const double longest_ns = kDisturbed * median(alone_ns);
  return {.probed_ns = of_loads.mean_miss_ns(longest_ns),
          .probed_next_ns = of_nexts.mean_miss_ns(longest_ns),
          .chase_ns = undisturbed_mean(alone_ns),
          .probed_together_ns = of_several.mean_miss_ns(kDisturbed * median(together_ns)),
          .together_ns = undisturbed_mean(together_ns)};
}

}  // namespace nvmemu
