// SPDX-License-Identifier: Apache-2.0
// A run of `pmbench vma` as text.
#pragma once

#include <string>

#include "areas/vma_result.h"

namespace nvmemu::pmbench {

std::string text_report(const VmaResult& result);

// "5.7 +- 7.0"
std::string slope_text(const SlopeFit& fit);

}  // namespace nvmemu::pmbench
