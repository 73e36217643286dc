// SPDX-License-Identifier: Apache-2.0
// A calibration in which the last-level cache takes memory's place.
#pragma once

#include "host/calibration.h"

namespace nvmemu::suite {

// The source's classes shift by one level: the base is a hit in the last-level cache, what used to be a hit
// in it is what used to come from memory, and a hit in an inner cache is a hit. The threshold lies halfway
// between the reading of a load that waits for nothing and one that waits for the cache. What was only
// measured of memory (what samples displace) is not known of the cache: as where nothing waits.
Calibration cache_as_memory(const Calibration& calibration, double cache_ns);

}  // namespace nvmemu::suite
