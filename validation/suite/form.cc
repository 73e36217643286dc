// SPDX-License-Identifier: Apache-2.0
#include "suite/form.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "host/statistics.h"

namespace nvmemu::suite {
namespace {

constexpr std::string_view kShareOfRun = "SHARE";  // in Experiment::share_arguments

void show(const MeasureOptions& options, const char* step) {
  if (options.progress) options.progress(step);
}

Result<double> loads_of_structure(const Measured& native) {
  if (native.critical_loads) return *native.critical_loads;
  return failure("the program does not say how many loads are on its critical path");
}

Result<double> loads_of_twin(Runs& runs, const Experiment& experiment, const Measured& native) {
  const Result<Counted> counted = runs.twin(experiment);
  if (!counted) return tl::unexpected<Error>(counted.error());
  if (experiment.judged != Judged::kBounds && counted->checksum != native.checksum)
    return failure(fmt::format("the instrumented twin came to another result ({}) than the program ({})",
                               counted->checksum, native.checksum));
  return counted->from_memory;
}

Result<void> add_work(Runs& runs, const Experiment& experiment, const Measured& native, Form& form) {
  Experiment work = experiment;
  work.arguments = experiment.work_arguments;
  const auto run = runs.native(work, {});
  if (!run) return tl::unexpected<Error>(run.error());
  form.work_ns = run->seconds * 1e9 / form.loads;
  form.window_holds_work = experiment.window_holds_work;
  const double step_ns = native.seconds * 1e9 / form.loads;
  if (!form.window_holds_work && step_ns < *form.work_ns * (1 + kLeastShown))
    form.unknown = fmt::format(
        "this processor hides the misses behind the work (a step takes {:.0f} ns, the work alone {:.0f} ns)",
        step_ns, *form.work_ns);
  return {};
}

// In which the loads from memory are waited for by so much longer, `of_all` of them.
double groups_seconds(const Form& form, double native_seconds, double of_all, double longer_ns,
                      double base_ns) {
  return native_seconds * (1 + of_all * longer_ns / (form.together_ns > 0 ? form.together_ns : base_ns));
}

Result<double> together_ns(Runs& runs, const Experiment& experiment) {
  Experiment chase = experiment;
  chase.program = Program::kChase;
  chase.arguments = experiment.together_arguments;
  const auto run = runs.native(chase, {});
  if (!run) return tl::unexpected<Error>(run.error());
  const Result<double> steps = loads_of_structure(*run);
  if (!steps) return steps;
  return run->seconds * 1e9 / *steps;
}

// How much of what all loads from memory add so many of them do: by native runs with none, so many, and all,
// the rest from a cache. It is more than their part, since misses that few others overlap are waited for
// nearly as long as alone.
Result<double> share_of_groups(Runs& runs, const Experiment& experiment) {
  const auto seconds = [&](double share) -> Result<double> {
    Experiment partly = experiment;
    partly.arguments = experiment.share_arguments;
    std::ranges::replace(partly.arguments, std::string(kShareOfRun), fmt::format("{}", share));
    const auto run = runs.native(partly, {});
    if (!run) return tl::unexpected<Error>(run.error());
    return run->seconds;
  };
  std::array<std::vector<double>, 3> rounds;
  for (unsigned round = 0; round < kShareRounds; ++round) {
    for (std::size_t i = 0; i < rounds.size(); ++i) {
      const auto one = seconds(std::array{0.0, experiment.share, 1.0}[i]);
      if (!one) return one;
      rounds[i].push_back(*one);
    }
  }
  const double none = median(rounds[0]), some = median(rounds[1]), all = median(rounds[2]);
  if (all <= none * (1 + kLeastShown)) return failure("misses take this processor no longer than cache hits");
  return (some - none) / (all - none);
}

}  // namespace

double expected_seconds(double native_seconds, double loads, double target_ns, double base_ns) {
  return native_seconds + loads * (target_ns - base_ns) * 1e-9;
}

double Form::least_seconds(double native_seconds, double target_ns, double base_ns) const {
  if (adds != Adds::kGroups) return native_seconds;
  return groups_seconds(*this, native_seconds, share, target_ns - base_ns, base_ns);
}

double Form::expected_seconds(double native_seconds, double target_ns, double base_ns) const {
  constexpr double kSecondsPerNs = 1e-9;
  if (adds == Adds::kNothing) return native_seconds;
  if (adds == Adds::kRounds)
    return std::max(native_seconds, loads * (target_ns + further_ns) * kSecondsPerNs);
  if (adds == Adds::kGroups)
    return groups_seconds(*this, native_seconds, most_share, target_ns - base_ns, base_ns);
  const double hidden_ns = window_holds_work ? work_ns.value_or(0) : 0;
  return suite::expected_seconds(native_seconds, share * loads, std::max(target_ns, hidden_ns),
                                 std::max(base_ns, hidden_ns));
}

Result<Form> form_of(Runs& runs, const Experiment& experiment, const MeasureOptions& options) {
  show(options, "native, to count");
  const auto native = runs.native(experiment, {});
  if (!native) return tl::unexpected<Error>(native.error());
  const bool counts = experiment.truth == Truth::kPerAccess;
  if (counts) show(options, "instrumented twin");
  const Result<double> loads =
      counts ? loads_of_twin(runs, experiment, *native) : loads_of_structure(*native);
  if (!loads) return tl::unexpected<Error>(loads.error());
  Form form;
  form.loads = *loads;
  form.adds = experiment.adds;
  form.share = experiment.share;
  form.further_ns = experiment.further_ns;
  if (!experiment.together_arguments.empty()) {
    show(options, "native, as many misses at a time");
    const Result<double> together = together_ns(runs, experiment);
    if (!together) return tl::unexpected<Error>(together.error());
    form.together_ns = *together;
  }
  if (!experiment.share_arguments.empty()) {
    show(options, "native, a part from memory");
    const Result<double> share = share_of_groups(runs, experiment);
    if (!share) return tl::unexpected<Error>(share.error());
    form.most_share = std::max(*share, form.share);
  }
  if (experiment.work_arguments.empty()) return form;
  show(options, "native, the work alone");
  if (const auto added = add_work(runs, experiment, *native, form); !added)
    return tl::unexpected<Error>(added.error());
  return form;
}

}  // namespace nvmemu::suite
