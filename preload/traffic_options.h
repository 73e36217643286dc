// SPDX-License-Identifier: Apache-2.0
// How traffic is measured in this process.
#pragma once

#include "epoch/governor.h"

namespace nvmemu::preload {

// From how much on a thread's traffic is sampled finely: well below what limits it.
double fine_traffic_bps(const BandwidthTarget& target);

// How often to sample where nothing but traffic counts. A sample costs a stream some 50 us; what a thread
// streams over in between must not be more than an array that no cache holds.
double traffic_period_ns(const BandwidthTarget& target);

// What is read again before so much else was read comes from a cache. A last-level cache is shared, in a
// virtual machine with strangers: of a large one only part can be counted on (docs/bandwidth.md).
double streaming_cache_bytes();

}  // namespace nvmemu::preload
