// SPDX-License-Identifier: Apache-2.0
// `pmbench touch` and `pmbench kswapd`: the patterns in turn, run after run, each in memory of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "run/stop.h"
#include "run/surroundings.h"
#include "touch/touch_limits.h"
#include "touch/touch_result.h"

namespace nvmemu::pmbench {

// Swap, cgroup and what is taken away, for the time of the run: see Surroundings. This process is the first
// that the kernel kills, should memory run out all the same. Before there are threads.
Result<void> arrange_touch(const TouchOptions& options, const TouchNeeds& needs, Surroundings& surroundings);

// Within such surroundings. `show`: what it does now; may be empty.
Result<TouchResult> run_touch(const TouchOptions& options, const TouchNeeds& needs, const Stop& stop,
                              const std::function<void(const std::string&)>& show);

}  // namespace nvmemu::pmbench
