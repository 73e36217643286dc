// SPDX-License-Identifier: Apache-2.0
// Two memories to predict for: what --tier and --dram of `nvmemu predict` ask.
#pragma once

#include <vector>

#include "predicted.h"

namespace nvmemu {

// Without predictions.
Result<std::vector<PlacedTarget>> placed_targets_of(const PredictOptions& options, double base_ns);

// Whether the record can tell of `predicted.placed`; else why not.
Result<void> check_known_places(const PredictOptions& options, const Predicted& predicted);

SlowShare slow_share_of(const PlacedTarget& target, const Predicted& predicted);

}  // namespace nvmemu
