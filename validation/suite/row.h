// SPDX-License-Identifier: Apache-2.0
// One experiment at one target: its samples, and what they say together.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "suite/experiment.h"
#include "suite/measured.h"

namespace nvmemu::suite {

// One emulated run with the runs of the truth before and after it.
struct Sample {
  double native_seconds = 0;  // mean of the two
  double native_spread = 0;   // their difference, relative to it
  double emulated_seconds = 0;
  double truth_seconds = 0;  // what the emulated run should have taken; of Judged::kBounds, at most,
  double least_seconds = 0;  // and at least
  double base_ns = 0;
  double steal_share = 0;  // the largest of the three runs'
  double stall_ns = 0, injected_ns = 0;
  // Of kNuma: which share of the memory was on the node that it was bound to, as the kernel said; of the
  // truth's two runs the smaller one.
  std::optional<double> truth_share_on_node{}, emulated_share_on_node{};
  bool disturbed = false;

  // In per cent: above 0, the emulated run was too slow.
  double error() const { return 100 * (emulated_seconds / truth_seconds - 1); }
};

struct Row {
  Experiment experiment;
  double target_ns = 0;
  std::optional<double> loads;    // that the truth counts with
  std::optional<double> work_ns;  // a load, of Experiment::work_arguments
  std::vector<Sample> samples;    // all of them, disturbed ones too
  unsigned repeats_left_out = 0;  // of disturbed samples, for want of time
  std::optional<Error> failure;
  std::string skipped;  // why it was not run

  bool is_measured() const { return !failure && skipped.empty() && !samples.empty(); }
  // What the figures rest on: the undisturbed samples, or, where there are none, all.
  std::vector<Sample> counted() const;
  std::size_t disturbed() const;
  double error() const;             // median, per cent
  double native_spread() const;     // median, per cent
  double emulated_seconds() const;  // medians
  double truth_seconds() const;
  double native_seconds() const;
  double least_seconds() const;
  double base_ns() const;
  // Of Judged::kBounds: whether it lies between least_ and truth_seconds(), but for `tolerance` (relative).
  bool within_bounds(double tolerance) const;
};

}  // namespace nvmemu::suite
