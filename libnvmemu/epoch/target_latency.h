// SPDX-License-Identifier: Apache-2.0
// Which latencies can be emulated at all.
#pragma once

#include <string>

#include "base/result.h"

namespace nvmemu {

// The latency to emulate where `target_ns` is asked for on a machine whose memory takes `base_ns`: no less
// than that. An error where it is asked for less, by more than measurements differ, or for more than 1 s.
// `asks`: how the error begins: "--read-latency asks for".
Result<double> reachable_target_ns(double target_ns, double base_ns, const std::string& asks);

}  // namespace nvmemu
