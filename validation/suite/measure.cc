// SPDX-License-Identifier: Apache-2.0
#include "suite/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "suite/form.h"

namespace nvmemu::suite {
namespace {

Sample sample_of(const Measured& before, const Measured& emulated, const Measured& after) {
  const double mean_seconds = (before.seconds + after.seconds) / 2;
  Sample sample;
  sample.native_seconds = mean_seconds;
  sample.truth_seconds = mean_seconds;
  sample.least_seconds = mean_seconds;
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
      if (options_.may_repeat && !options_.may_repeat()) {
        row.repeats_left_out = left;
        return;
      }
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

}  // namespace

std::vector<Row> measure_added(Runs& runs, const Experiment& experiment, const MeasureOptions& options) {
  std::vector<Row> rows;
  for (const double target_ns : experiment.targets_ns) rows.push_back(row_of(experiment, target_ns));
  const Result<Form> form = form_of(runs, experiment, options);
  if (!form) {
    fail(rows, form.error(), options);
    return rows;
  }
  for (Row& row : rows) {
    row.loads = form->loads;
    row.work_ns = form->work_ns;
    row.skipped = form->unknown;
  }
  if (!form->unknown.empty()) return rows;
  const Comparison comparison{
      .native = [&] { return runs.native(experiment, {}); },
      .emulated =
          [&](const Row& row) {
            Emulation emulation;
            emulation.target_ns = row.target_ns;
            return runs.emulated(experiment, {}, emulation);
          },
      .complete =
          [&form](const Row& row, Sample& sample) {
            sample.truth_seconds =
                form->expected_seconds(sample.native_seconds, row.target_ns, sample.base_ns);
            sample.least_seconds = form->least_seconds(sample.native_seconds, row.target_ns, sample.base_ns);
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
  // Whether the set stayed in the cache meanwhile, only a run on it tells.
  Measured before = *own, after = *own;
  const auto run_emulated = [&](const Emulation& emulation) -> Result<Measured> {
    auto emulated = runs.emulated(experiment, memory.own, emulation);
    if (!emulated || !memory.cache_is_base) return emulated;
    const auto run = runs.native(experiment, memory.own);
    if (!run) return run;
    before = std::exchange(after, *run);
    return emulated;
  };
  const Emulation emulation{memory.target_ns, memory.base_ns, memory.cache_is_base};
  const Comparison comparison{
      .native = [&] { return runs.native(on_slower, memory.slower); },
      .emulated = [&](const Row&) { return run_emulated(emulation); },
      .complete =
          [&](const Row&, Sample& sample) {
            sample.native_seconds = (before.seconds + after.seconds) / 2;
            const double spread = std::abs(after.seconds - before.seconds) / sample.native_seconds;
            sample.native_spread = std::max(sample.native_spread, spread);
            sample.disturbed = sample.disturbed || spread > kMostNativeSpread;
          },
      .same_results = experiment.slower_arguments.empty(),
  };
  Sampling(rows, comparison, options).run();
  return rows.front();
}

}  // namespace nvmemu::suite
