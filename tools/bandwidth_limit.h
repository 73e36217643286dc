// SPDX-License-Identifier: Apache-2.0
// What a run's bandwidth is to be limited to, as far as this machine can be limited to that.
#pragma once

#include <string>
#include <vector>

#include "epoch/governor.h"
#include "host/calibration.h"

namespace nvmemu {

// What all cores of this machine move together.
struct NativeBandwidth {
  double read_bps = 0;   // 0: not known
  double write_bps = 0;  // no program writes more
};

// Of a copy, every byte that STREAM counts stands for one that is read: a line that is written is read first.
// Of its reads alone a sum may do more. It writes half as many, and could write as many if it read nothing.
NativeBandwidth native_bandwidth(const Calibration& calibration);

// `target` without what this machine does not reach itself (by more than two measurements may differ); a
// sentence for each such goes to `warnings`.
BandwidthTarget reachable(const BandwidthTarget& target, const NativeBandwidth& native,
                          std::vector<std::string>& warnings);

}  // namespace nvmemu
