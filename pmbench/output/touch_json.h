// SPDX-License-Identifier: Apache-2.0
// A run of `pmbench touch` or `kswapd` as JSON, all that it found: schema "pmbench-touch-1", described in
// docs/pmbench-json.md.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "touch/touch_result.h"

namespace nvmemu::pmbench {

inline constexpr std::string_view kTouchSchema = "pmbench-touch-1";

std::string to_json(const TouchResult& result);
// Errors name the field.
Result<TouchResult> parse_touch_json(std::string_view text);

}  // namespace nvmemu::pmbench
