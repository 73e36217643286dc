// SPDX-License-Identifier: Apache-2.0
#include "run/describe.h"

#include "base/clock.h"
#include "system/machine.h"

namespace nvmemu::pmbench {

RunDescription describe_run() {
  RunDescription description;
  description.version = "pmbench " PMBENCH_VERSION;
  const Clock clock = Clock::calibrate();
  description.machine = read_machine(clock.uses_tsc() ? clock.hz() / 1e3 : 0);
  const std::time_t now = std::time(nullptr);
  gmtime_r(&now, &description.started);
  return description;
}

}  // namespace nvmemu::pmbench
