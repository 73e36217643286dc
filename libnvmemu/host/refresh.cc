// SPDX-License-Identifier: Apache-2.0
#include "host/calibrate.h"
#include "host/drift.h"
#include "host/short_chase.h"

namespace nvmemu {

Result<Refresh> refresh_base_latency(const Calibration& calibration, const Clock& clock) {
  const auto chase = ShortChase::create();
  if (!chase) return tl::unexpected<Error>(chase.error());
  const Figure now = chase->measure(clock);
  return Refresh{follow_drift(calibration.base_latency_ns, calibration.short_chase_ns, now.value, now.spread),
                 now.value, now.spread};
}

}  // namespace nvmemu
