// SPDX-License-Identifier: Apache-2.0
// From the short chase then and now to the base latency now.
#pragma once

#include <algorithm>

namespace nvmemu {

// `base_ns`, measured when the short chase took `then_ns`, corrected for its taking `now_ns`, whose
// repetitions had that `spread`. What is no larger than the measurement's own wobble must not be followed:
// the change d is weighed by d^2 / (d^2 + s^2), which leaves half of a change of s, next to nothing of a
// small one and nearly all of a large one. s is half the spread, but at least 3 %: on unchanged memory, one
// short chase after another varied by a standard deviation of 1.4 to 2.7 % where this was tried. The result
// is within half and double of the calibrated figure: beyond that the short chase has been disturbed, and the
// memory has not changed.
inline double follow_drift(double base_ns, double then_ns, double now_ns, double spread) {
  if (then_ns <= 0 || now_ns <= 0) return base_ns;
  const double change = now_ns / then_ns - 1;
  const double wobble = std::max(spread / 2, 0.03);
  const double weight = change * change / (change * change + wobble * wobble);
  return base_ns * std::clamp(1 + weight * change, 0.5, 2.0);
}

}  // namespace nvmemu
