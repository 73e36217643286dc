// SPDX-License-Identifier: Apache-2.0
#include "suite/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace nvmemu::suite {
namespace {

Sample sample_of(const Measured& before, const Measured& emulated, const Measured& after) {
  Sample sample;
  sample.native_seconds = (before.seconds + after.seconds) / 2;
  sample.native_spread = std::abs(after.seconds - before.seconds) / sample.native_seconds;
  sample.emulated_seconds = emulated.seconds;
  sample.base_ns = emulated.base_ns;
  sample.steal_share = std::max({before.steal_share, emulated.steal_share, after.steal_share});
  sample.stall_ns = emulated.stall_ns;
  sample.injected_ns = emulated.injected_ns;
  sample.disturbed = sample.native_spread > kMostNativeSpread || sample.steal_share > kMostStealShare;
  return sample;
}

Result<void> same_result(const Measured& one, const Measured& other) {
  if (one.checksum == other.checksum) return {};
  return failure(fmt::format("the emulated run came to another result ({}) than the native one ({})",
                             other.checksum, one.checksum));
}

// What a row's truth counts with: from the structure, or from the twin.
Result<double> loads_of(Runs& runs, const Experiment& experiment, const Measured& native) {
  if (experiment.truth == Truth::kClosedForm) {
    if (native.critical_loads) return *native.critical_loads;
    return failure("the program does not say how many loads are on its critical path");
  }
  const Result<Counted> counted = runs.twin(experiment);
  if (!counted) return tl::unexpected<Error>(counted.error());
  if (experiment.judged != Judged::kBounds && counted->checksum != native.checksum)
    return failure(fmt::format("the instrumented twin came to another result ({}) than the program ({})",
                               counted->checksum, native.checksum));
  return counted->from_memory;
}

// Measures one experiment; what is found on the way stays with the rows.
class Measuring {
 public:
  Measuring(Runs& runs, const Experiment& experiment, const MeasureOptions& options)
      : runs_(runs), experiment_(experiment), options_(options) {
    for (const double target_ns : experiment.targets_ns)
      rows_.push_back({experiment, target_ns, {}, {}, {}, {}});
  }

  std::vector<Row> run() {
    if (const auto loads = count(); !loads) return all_failed(loads.error());
    for (unsigned round = 0; round < options_.rounds && !stopped(); ++round) {
      for (Row& row : rows_) add_sample(row);
    }
    for (Row& row : rows_) repeat_disturbed(row);
    return std::move(rows_);
  }

 private:
  bool stopped() const { return options_.stop && options_.stop(); }
  void say(std::string_view what) const {
    if (options_.progress) options_.progress(what);
  }

  Result<void> count() {
    say("native");
    auto native = runs_.native(experiment_, {});
    if (!native) return tl::unexpected<Error>(native.error());
    if (experiment_.truth == Truth::kPerAccess) say("twin");
    const Result<double> loads = loads_of(runs_, experiment_, *native);
    if (!loads) return tl::unexpected<Error>(loads.error());
    for (Row& row : rows_) row.loads = *loads;
    // With a twin in between, a fresh native run stands nearer to what is emulated next.
    if (experiment_.truth == Truth::kClosedForm) before_ = *native;
    return {};
  }

  std::vector<Row> all_failed(const Error& error) {
    for (Row& row : rows_) row.failure = error;
    return std::move(rows_);
  }

  void add_sample(Row& row) {
    if (row.failure || stopped()) return;
    const Result<Sample> sample = measure(row);
    if (sample) {
      row.samples.push_back(*sample);
    } else {
      row.failure = sample.error();
      before_.reset();
    }
  }

  Result<Sample> measure(const Row& row) {
    if (!before_) {
      say("native");
      auto native = runs_.native(experiment_, {});
      if (!native) return tl::unexpected<Error>(native.error());
      before_ = *native;
    }
    say(fmt::format("emulated, {:.0f} ns", row.target_ns));
    const auto emulated =
        runs_.emulated(experiment_, {}, {.target_ns = row.target_ns, .base_ns = {}, .cache_is_base = false});
    if (!emulated) return tl::unexpected<Error>(emulated.error());
    say("native");
    const auto after = runs_.native(experiment_, {});
    if (!after) return tl::unexpected<Error>(after.error());
    if (const auto same = same_result(*after, *emulated); !same) return tl::unexpected<Error>(same.error());
    Sample sample = sample_of(*before_, *emulated, *after);
    sample.truth_seconds = expected_seconds(sample.native_seconds, *row.loads, row.target_ns, sample.base_ns);
    before_ = *after;
    return sample;
  }

  void repeat_disturbed(Row& row) {
    unsigned repeats = options_.repeats;
    while (!row.failure && repeats > 0 && row.samples.size() - row.disturbed() < options_.rounds &&
           !stopped()) {
      add_sample(row);
      --repeats;
    }
  }

  Runs& runs_;
  const Experiment& experiment_;
  const MeasureOptions& options_;
  std::vector<Row> rows_;
  std::optional<Measured> before_;  // the native run before the next emulated one
};

}  // namespace

double expected_seconds(double native_seconds, double loads, double target_ns, double base_ns) {
  return native_seconds + loads * (target_ns - base_ns) * 1e-9;
}

std::vector<Row> measure_added(Runs& runs, const Experiment& experiment, const MeasureOptions& options) {
  return Measuring(runs, experiment, options).run();
}

}  // namespace nvmemu::suite
