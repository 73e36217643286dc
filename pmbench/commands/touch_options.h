// SPDX-License-Identifier: Apache-2.0
// The options that `pmbench touch` and `kswapd` share.
#pragma once

#include "run/typed_options.h"
#include "touch/touch_result.h"

namespace nvmemu::pmbench {

inline constexpr const char* kMeasurementGroup = "Measurement";
inline constexpr const char* kMemoryGroup = "Memory";
inline constexpr const char* kOutputGroup = "Output";

// --pattern, --ratio, --thp, --runs, --seed, those of swap, and those of output.
void add_touch_options(Parser& app, TouchOptions& options);

}  // namespace nvmemu::pmbench
