// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/account/since_gap.h"

#include <algorithm>
#include <cmath>

namespace nvmemu {
namespace {

constexpr double kShortestGapNs = 2e6;
// Measured (docs/sampling.md): short injections g between runs r slow a program by as much as a long gap t
// ago, where g / r * kForgetMs = kSaturatedMs * exp(-t / kForgetMs).
constexpr double kForgetMs = 10;
constexpr double kSaturatedMs = 64;

}  // namespace

void SinceGap::on_time(double cpu_ns) noexcept {
  since_gap_ms_ += cpu_ns / 1e6;
  recent_ms_ *= kForgetMs / (kForgetMs + cpu_ns / 1e6);
}

void SinceGap::on_injection(double injected_ns) noexcept {
  if (injected_ns >= kShortestGapNs) {
    since_gap_ms_ = 0;
  } else {
    recent_ms_ += injected_ns / 1e6;
  }
}

double SinceGap::ms() const noexcept {
  const double share = std::clamp(recent_ms_ / kSaturatedMs, 1e-6, 1.0);
  return std::min(since_gap_ms_, -kForgetMs * std::log(share));
}

}  // namespace nvmemu
