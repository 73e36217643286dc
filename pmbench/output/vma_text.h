// SPDX-License-Identifier: Apache-2.0
// A run of `pmbench vma` as text.
#pragma once

#include <string>

#include "areas/vma_result.h"

namespace nvmemu::pmbench {

std::string text_report(const VmaResult& result);

}  // namespace nvmemu::pmbench
