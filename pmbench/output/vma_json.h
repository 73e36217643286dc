// SPDX-License-Identifier: Apache-2.0
// A run of `pmbench vma` as JSON, all that it found: schema "pmbench-vma-1", described in
// docs/pmbench-json.md.
#pragma once

#include <string>
#include <string_view>

#include "areas/vma_result.h"
#include "base/result.h"

namespace nvmemu::pmbench {

inline constexpr std::string_view kVmaSchema = "pmbench-vma-1";

std::string to_json(const VmaResult& result);
// Errors name the field.
Result<VmaResult> parse_vma_json(std::string_view text);

}  // namespace nvmemu::pmbench
