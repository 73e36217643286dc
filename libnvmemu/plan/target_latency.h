// SPDX-License-Identifier: Apache-2.0
// Latencies to emulate: how people give them, and which can be emulated at all.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace nvmemu {

// A read latency as people give it: "300ns", or "2x", a multiple (1 to 1000000) of the base latency. The
// other is 0.
struct TargetLatency {
  double ns = 0;
  double multiple = 0;

  bool empty() const { return ns <= 0 && multiple <= 0; }
  double over(double base_ns) const { return multiple > 0 ? multiple * base_ns : ns; }
};
Result<TargetLatency> parse_target_latency(std::string_view text);
// What parse_target_latency() reads as the same; "" where both are 0.
std::string format_target_latency(const TargetLatency& target);

// The latency to emulate where `target_ns` is asked for on a machine whose memory takes `base_ns`: no less
// than that. An error where it is asked for less, by more than measurements differ, or for more than 1 s.
// `asks`: how the error begins: "--read-latency asks for".
Result<double> reachable_target_ns(double target_ns, double base_ns, const std::string& asks);

}  // namespace nvmemu
