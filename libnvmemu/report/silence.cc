// SPDX-License-Identifier: Apache-2.0
#include "report/silence.h"

namespace nvmemu {

SampledTime& SampledTime::operator+=(const SampledTime& other) noexcept {
  user_ns += other.user_ns;
  emulation_ns += other.emulation_ns;
  sampled_ns += other.sampled_ns;
  cut_off += other.cut_off;
  return *this;
}

bool is_silent(const SampledTime& time) noexcept {
  constexpr double kMostUnseen = 1.0 / 3;
  constexpr double kStartNs = 100e6;  // before the library is there, and what the kernel's clock ticks hide
  constexpr double kEpochNs = 50e6;   // the longest that a thread keeps to itself
  const double unseen_ns = time.own_ns() - time.sampled_ns;
  return unseen_ns > kStartNs + static_cast<double>(time.cut_off) * kEpochNs &&
         unseen_ns > kMostUnseen * time.own_ns();
}

}  // namespace nvmemu
