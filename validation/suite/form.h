// SPDX-License-Identifier: Apache-2.0
// What a truth counts with where it is no run on other memory: loads that add up, and work that they hide
// behind.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "suite/experiment.h"
#include "suite/measure.h"
#include "suite/runs.h"

namespace nvmemu::suite {

// Of Adds::kLoads: native time plus what so many loads take longer.
double expected_seconds(double native_seconds, double loads, double target_ns, double base_ns);

struct Form {
  double loads = 0;                // or rounds
  std::optional<double> work_ns;   // beside each load
  bool window_holds_work = false;  // Experiment's
  std::string unknown;             // why there is no such sum here; empty: there is
  Adds adds = Adds::kLoads;
  double share = 1, further_ns = 0;  // Experiment's
  double together_ns = 0;            // of kGroups: what misses take that come together; 0: the base
  double most_share = 1;             // of kGroups: of what all of them would add, so much the share may

  // Of native runs that took so long, at another latency: by Adds; each load takes as much longer, or, where
  // it is waited for beside work that the window holds, as the longer of the two does.
  double expected_seconds(double native_seconds, double target_ns, double base_ns) const;
  // Of what can only be bounded: at least; expected_seconds() are at most, then.
  double least_seconds(double native_seconds, double target_ns, double base_ns) const;
};

// Of work that is more than the window holds, a part hides some of each miss, the same at each latency: so
// the loads add up, but only where they are not hidden altogether. A native step must take longer than the
// work, by this share at least.
constexpr double kLeastShown = 0.05;

// Of each share (none, a part, all) of Experiment::share_arguments, so many native runs.
constexpr unsigned kShareRounds = 3;

// Of closed forms and kPerAccess: by running it, and its work alone or its twin. An error says which
// run failed, or what it did not say.
Result<Form> form_of(Runs& runs, const Experiment& experiment, const MeasureOptions& options);

}  // namespace nvmemu::suite
