// SPDX-License-Identifier: Apache-2.0
#include "suite/duration.h"

#include <algorithm>
#include <vector>

#include "suite/form.h"

namespace nvmemu::suite {
namespace {

// A twin times each access between fences.
constexpr double kTwinSlowdown = 1.5;

// Base and target of the cache tier: three chases of each, 0.2 s but for set-up.
constexpr double kChaseSeconds = 3;

bool is_in_cache(const Experiment& experiment) {
  return experiment.truth == Truth::kCacheTier ||
         (experiment.truth == Truth::kTiers && !experiment.slower_arguments.empty());
}

// How many times as long as a native run the emulated ones take, one for each row.
std::vector<double> slowdowns_of(const Experiment& experiment, const Machine& machine) {
  constexpr double kFartherNode = 2;
  if (experiment.truth == Truth::kNuma) return {kFartherNode};
  if (is_in_cache(experiment)) {
    // What finds nothing in the cache is stretched once more by as much, and so at most.
    return {machine.base_ns / std::max(machine.cache_ns, 1.0)};
  }
  std::vector<double> slowdowns;
  for (const double target_ns : experiment.targets_ns) slowdowns.push_back(target_ns / machine.base_ns);
  return slowdowns;
}

// A run of the truth: native on the same memory, or as slow as what is emulated.
double truth_seconds(const Experiment& experiment, double slowdown) {
  const bool on_slower = experiment.truth == Truth::kNuma || is_in_cache(experiment);
  return experiment.seconds * (on_slower ? slowdown : 1) + experiment.set_up_seconds;
}

double sample_seconds(const Experiment& experiment, double slowdown) {
  return experiment.seconds * slowdown + experiment.set_up_seconds + truth_seconds(experiment, slowdown);
}

}  // namespace

double estimated_sample_seconds(const Experiment& experiment, const Machine& machine) {
  double longest = 0;
  for (const double slowdown : slowdowns_of(experiment, machine))
    longest = std::max(longest, sample_seconds(experiment, slowdown));
  return longest;
}

double estimated_seconds(const Experiment& experiment, unsigned rounds, const Machine& machine) {
  if (experiment.seconds <= 0) return 0;
  const double native_seconds = experiment.seconds + experiment.set_up_seconds;
  double seconds = native_seconds;  // from which the loads, or the own memory's time, are taken
  if (experiment.truth == Truth::kPerAccess)
    seconds += kTwinSlowdown * experiment.seconds + experiment.set_up_seconds;
  if (!experiment.together_arguments.empty()) seconds += native_seconds;
  // None of whose three shares takes longer than all.
  if (!experiment.share_arguments.empty()) seconds += 3 * kShareRounds * native_seconds;
  if (is_in_cache(experiment)) seconds += kChaseSeconds;
  const std::vector<double> slowdowns = slowdowns_of(experiment, machine);
  if (!slowdowns.empty()) seconds += truth_seconds(experiment, slowdowns.front());  // before the first sample
  for (const double slowdown : slowdowns) seconds += rounds * sample_seconds(experiment, slowdown);
  return seconds;
}

double estimated_seconds(const Plan& plan, const Machine& machine) {
  double seconds = 0;
  for (const Experiment& experiment : plan.experiments)
    seconds += estimated_seconds(experiment, plan.rounds, machine);
  return seconds;
}

}  // namespace nvmemu::suite
