// SPDX-License-Identifier: Apache-2.0
// A run of `pmbench touch` or `kswapd` as text.
#pragma once

#include <string>

#include "touch/touch_result.h"

namespace nvmemu::pmbench {

std::string text_report(const TouchResult& result);

// What a reader might take for a mistake, or overlook: that nothing was swapped, and why; who reclaims in a
// cgroup; runs that ended early. A line each.
std::string notes_on(const TouchResult& result);

}  // namespace nvmemu::pmbench
