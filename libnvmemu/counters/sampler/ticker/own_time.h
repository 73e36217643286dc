// SPDX-License-Identifier: Apache-2.0
// How much of the time that samples stand for was the program's own. A sample stands for the time since the
// one before, and taking that one, its signal and a walk have a part of it: they begin right after a sample,
// and most are over before the next falls due. Counted in full, the samples of a chase that is walked for 4 %
// of its time are 4 % too many, and at 4.5 times the base latency it comes out 3 % too slow. Pure
// arithmetic.
#pragma once

#include <algorithm>
#include <cmath>

namespace nvmemu {

class OwnTime {
 public:
  // All that has passed is in the next samples: the ticker measures it.
  void on_interruption(double ns) noexcept { untimed_ns_ += ns; }

  // A walk that began right after a sample of a ticker of that period. Samples that fell due in it have been
  // dropped, whole periods with them; what is left of it is in the next sample.
  void on_walk_after_sample(double ns, double period_ns) noexcept { untimed_ns_ += std::fmod(ns, period_ns); }

  // The program's part of the next sample.
  double take(double sampled_ns) noexcept {
    const double untimed_ns = std::min(untimed_ns_, sampled_ns);
    untimed_ns_ -= untimed_ns;
    return sampled_ns - untimed_ns;
  }

  void forget() noexcept { untimed_ns_ = 0; }

 private:
  double untimed_ns_ = 0;  // walks', in samples to come
};

}  // namespace nvmemu
