// SPDX-License-Identifier: Apache-2.0
#include "suite/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace nvmemu::suite {
namespace {

Sample sample_of(const Measured& before, const Measured& emulated, const Measured& after) {
  const double mean_seconds = (before.seconds + after.seconds) / 2;
  Sample sample;
  sample.native_seconds = mean_seconds;
  sample.truth_seconds = mean_seconds;
  sample.native_spread = std::abs(after.seconds - before.seconds) / mean_seconds;
  sample.emulated_seconds = emulated.seconds;
  sample.base_ns = emulated.base_ns;
  sample.steal_share = std::max({before.steal_share, emulated.steal_share, after.steal_share});
  sample.stall_ns = emulated.stall_ns;
  sample.injected_ns = emulated.injected_ns;
  if (before.share_on_node && after.share_on_node)
    sample.truth_share_on_node = std::min(*before.share_on_node, *after.share_on_node);
  sample.emulated_share_on_node = emulated.share_on_node;
  sample.disturbed = sample.native_spread > kMostNativeSpread || sample.steal_share > kMostStealShare;
  return sample;
}

Result<void> same_result(const Measured& native, const Measured& emulated) {
  if (native.checksum == emulated.checksum) return {};
  return failure(fmt::format("the emulated run came to another result ({}) than the native one ({})",
                             emulated.checksum, native.checksum));
}

// What the rows of an experiment have in common.
struct Comparison {
  std::function<Result<Measured>()> native;  // of the truth
  std::function<Result<Measured>(const Row& row)> emulated;
  std::function<void(const Row& row, Sample& sample)>
      complete;  // with what the truth makes of the native runs
  bool same_results = true;
};

// Takes the samples of an experiment's rows. Rows share native runs: the one after a sample is the one before
// the next.
class Sampling {
 public:
  Sampling(std::vector<Row>& rows, const Comparison& comparison, const MeasureOptions& options)
      : rows_(rows), comparison_(comparison), options_(options) {}

  void run() {
    for (unsigned round = 0; round < options_.rounds; ++round) {
      for (Row& row : rows_) add_sample(row);
    }
    for (Row& row : rows_) repeat_disturbed(row);
    for (Row& row : rows_) {
      if (row.samples.empty() && !row.failure) row.skipped = "interrupted";
    }
  }

 private:
  bool stopped() const { return options_.stop && options_.stop(); }

  void add_sample(Row& row) {
    if (row.failure || stopped()) return;
    const Result<Sample> sample = measure(row);
    if (sample) {
      row.samples.push_back(*sample);
      return;
    }
    before_.reset();
    if (!stopped()) row.failure = sample.error();  // else it failed because it was interrupted
  }

  Result<Measured> native() {
    if (options_.progress) options_.progress("native");
    return comparison_.native();
  }

  Result<Sample> measure(const Row& row) {
    if (!before_) {
      auto run = native();
      if (!run) return tl::unexpected<Error>(run.error());
      before_ = *std::move(run);
    }
    if (options_.progress) options_.progress(fmt::format("emulated, {:.0f} ns", row.target_ns));
    const auto emulated = comparison_.emulated(row);
    if (!emulated) return tl::unexpected<Error>(emulated.error());
    const auto after = native();
    if (!after) return tl::unexpected<Error>(after.error());
    if (comparison_.same_results) {
      if (const auto same = same_result(*after, *emulated); !same) return tl::unexpected<Error>(same.error());
    }
    Sample sample = sample_of(*before_, *emulated, *after);
    comparison_.complete(row, sample);
    before_ = *after;
    return sample;
  }

  void repeat_disturbed(Row& row) {
    for (unsigned left = options_.repeats; left > 0 && !row.failure && !stopped(); --left) {
      if (row.samples.size() - row.disturbed() >= options_.rounds) return;
      add_sample(row);
    }
  }

  std::vector<Row>& rows_;
  const Comparison& comparison_;
  const MeasureOptions& options_;
  std::optional<Measured> before_;
};

Row row_of(const Experiment& experiment, double target_ns) {
  Row row;
  row.experiment = experiment;
  row.target_ns = target_ns;
  return row;
}

void fail(std::vector<Row>& rows, const Error& error, const MeasureOptions& options) {
  for (Row& row : rows) {
    if (options.stop && options.stop())
      row.skipped = "interrupted";
    else
      row.failure = error;
  }
}

// What a row's truth counts with: from the structure, or from the twin.
Result<double> loads_of(Runs& runs, const Experiment& experiment, const MeasureOptions& options) {
  if (options.progress) options.progress("native, to count");
  const auto native = runs.native(experiment, {});
  if (!native) return tl::unexpected<Error>(native.error());
  if (experiment.truth == Truth::kClosedForm) {
    if (native->critical_loads) return *native->critical_loads;
    return failure("the program does not say how many loads are on its critical path");
  }
  if (options.progress) options.progress("instrumented twin");
  const Result<Counted> counted = runs.twin(experiment);
  if (!counted) return tl::unexpected<Error>(counted.error());
  if (experiment.judged != Judged::kBounds && counted->checksum != native->checksum)
    return failure(fmt::format("the instrumented twin came to another result ({}) than the program ({})",
                               counted->checksum, native->checksum));
  return counted->from_memory;
}

}  // namespace

double expected_seconds(double native_seconds, double loads, double target_ns, double base_ns) {
  return native_seconds + loads * (target_ns - base_ns) * 1e-9;
}

std::vector<Row> measure_added(Runs& runs, const Experiment& experiment, const MeasureOptions& options) {
  std::vector<Row> rows;
  for (const double target_ns : experiment.targets_ns) rows.push_back(row_of(experiment, target_ns));
  const Result<double> loads = loads_of(runs, experiment, options);
  if (!loads) {
    fail(rows, loads.error(), options);
    return rows;
  }
  for (Row& row : rows) row.loads = *loads;
  const Comparison comparison{
      .native = [&] { return runs.native(experiment, {}); },
      .emulated =
          [&](const Row& row) {
            Emulation emulation;
            emulation.target_ns = row.target_ns;
            return runs.emulated(experiment, {}, emulation);
          },
      .complete =
          [](const Row& row, Sample& sample) {
            sample.truth_seconds =
                expected_seconds(sample.native_seconds, *row.loads, row.target_ns, sample.base_ns);
          },
      .same_results = true,
  };
  Sampling(rows, comparison, options).run();
  return rows;
}

Row measure_slower(Runs& runs, const Experiment& experiment, const SlowerMemory& memory,
                   const MeasureOptions& options) {
  std::vector<Row> rows{row_of(experiment, memory.target_ns)};
  Experiment on_slower = experiment;
  if (!experiment.slower_arguments.empty()) on_slower.arguments = experiment.slower_arguments;
  if (options.progress) options.progress("native, on this machine's own memory");
  const auto own = runs.native(experiment, memory.own);
  if (!own) {
    fail(rows, own.error(), options);
    return rows.front();
  }
  const Emulation emulation{memory.target_ns, memory.base_ns, memory.cache_is_base};
  const Comparison comparison{
      .native = [&] { return runs.native(on_slower, memory.slower); },
      .emulated = [&](const Row&) { return runs.emulated(experiment, memory.own, emulation); },
      .complete = [&](const Row&, Sample& sample) { sample.native_seconds = own->seconds; },
      .same_results = experiment.slower_arguments.empty(),
  };
  Sampling(rows, comparison, options).run();
  return rows.front();
}

}  // namespace nvmemu::suite
