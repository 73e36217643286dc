// SPDX-License-Identifier: Apache-2.0
// From the short chase then and now to the base latency now.
#pragma once

#include <algorithm>
#include <cmath>

namespace nvmemu {

// `base_ns`, measured when the short chase took `then_ns`, corrected for its taking `now_ns`, whose
// repetitions had that `spread`. What is no larger than the measurement's own wobble must not be followed:
// the change d is weighed by d^4 / (d^4 + s^4), which leaves half of a change of s, next to nothing of a
// smaller one and nearly all of a larger one. Of a rise, s is the spread, but at least 0.4: on a 2-vCPU
// guest, 23 of 32 programs that had just been started found the short chase 10 to 25 % slower than the
// calibration had, which a processor that has been idle can be for some 100 ms, while the long chase took
// what it had then. A fall has no such excuse: nothing makes memory seem faster than it is, and s is half the
// spread. (A calibration in a busy minute found 223 and 178 ns; a quarter of an hour later they were 204 and
// 169.) The result is within half and double of the calibrated
// figure: beyond that the short chase has been disturbed, and the memory has not changed.
inline double follow_drift(double base_ns, double then_ns, double now_ns, double spread) {
  if (then_ns <= 0 || now_ns <= 0) return base_ns;
  const double change = now_ns / then_ns - 1;
  if (change == 0) return base_ns;
  const double wobble = change < 0 ? spread / 2 : std::max(spread, 0.4);
  const double weight = 1 / (1 + std::pow(wobble / change, 4));
  return base_ns * std::clamp(1 + weight * change, 0.5, 2.0);
}

}  // namespace nvmemu
