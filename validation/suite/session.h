// SPDX-License-Identifier: Apache-2.0
// All experiments of a plan, one after the other.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "suite/catalogue.h"
#include "suite/measure.h"
#include "suite/row.h"
#include "suite/runs.h"

namespace nvmemu::suite {

// Of those truths, and where `workloads` is not empty, whose names are one of them, or hold one that is
// nobody's name (regardless of case): "tree" is two trees, "list" is not the skip list.
void keep_only(Plan& plan, const std::vector<Truth>& truths, const std::vector<std::string>& workloads);

struct SessionOptions {
  // Called before each run: what is run, and which share of the time is over, about.
  std::function<void(const std::string& step, double done)> progress;
  std::function<bool()> stop;
  std::function<double()> elapsed_seconds = {};  // since the beginning; of a clock, where it is not given
};

// The rows of all experiments, in their order. Experiments that were not begun when it was stopped are
// skipped, and say so.
std::vector<Row> run_plan(Runs& runs, const Plan& plan, const Machine& machine,
                          const SessionOptions& options);

}  // namespace nvmemu::suite
