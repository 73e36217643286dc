// SPDX-License-Identifier: Apache-2.0
// How long a plan will take, about: for who waits, and for what --quick promises.
#pragma once

#include "suite/catalogue.h"

namespace nvmemu::suite {

// Without repeats, seconds. `rounds`: emulated runs of each row.
double estimated_seconds(const Experiment& experiment, unsigned rounds, const Machine& machine);
double estimated_seconds(const Plan& plan, const Machine& machine);

// Of the longest sample that the experiment takes: an emulated run, and a run of the truth.
double estimated_sample_seconds(const Experiment& experiment, const Machine& machine);

}  // namespace nvmemu::suite
